import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.UUID;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/**
 * Writes partition values, and their text in folder names, as Iceberg Java computes them.
 *
 * <pre>
 * java -cp iceberg-spark-runtime-3.5_2.12-1.10.2.jar Values.java grid.tsv > java.jsonl
 * </pre>
 *
 * The grid holds a type, a transform and a value a line, between tabs; the value as in
 * pyiceberg.jsonl, \N for null.
 */
public class Values {
  @SuppressWarnings({"unchecked", "rawtypes"})
  public static void main(String[] args) throws Exception {
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] cell = line.split("\t", -1);
      Type type = Types.fromPrimitiveString(cell[0]);
      Transform transform = Transforms.fromString(cell[1]);
      String value = cell[2].equals("\\N") ? null : new String(HexFormat.of().parseHex(cell[2]), "UTF-8");
      Object result = transform.bind(type).apply(value == null ? null : parse(type, value));
      Type resultType = transform.getResultType(type);
      String human = transform.toHumanString(resultType, result);
      System.out.println("{\"type\": " + json(cell[0]) + ", \"transform\": " + json(cell[1])
          + ", \"value\": " + json(value) + ", \"result\": " + json(show(result))
          + ", \"human\": " + json(human) + ", \"path\": "
          + json(java.net.URLEncoder.encode(human, "UTF-8")) + "}");
    }
  }

  static Object parse(Type type, String text) {
    switch (type.typeId()) {
      case BOOLEAN: return Boolean.valueOf(text);
      case INTEGER: case DATE: return Integer.valueOf(text);
      case FLOAT: return Float.valueOf(text);
      case DOUBLE: return Double.valueOf(text);
      case STRING: return text;
      case UUID: return UUID.fromString(text);
      case FIXED: case BINARY: return ByteBuffer.wrap(HexFormat.of().parseHex(text));
      case DECIMAL: return new BigDecimal(new BigInteger(text), ((Types.DecimalType) type).scale());
      default: return Long.valueOf(text);
    }
  }

  static String show(Object value) {
    if (value instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      return HexFormat.of().formatHex(copy);
    }
    if (value instanceof BigDecimal decimal) {
      return decimal.unscaledValue().toString();
    }
    return value == null ? null : value.toString();
  }

  static String json(String text) {
    if (text == null) {
      return "null";
    }
    StringBuilder quoted = new StringBuilder("\"");
    for (char unit : text.toCharArray()) {
      if (unit == '"' || unit == '\\') {
        quoted.append('\\').append(unit);
      } else if (unit < 0x20 || unit > 0x7e) {
        quoted.append(String.format("\\u%04x", (int) unit));
      } else {
        quoted.append(unit);
      }
    }
    return quoted.append('"').toString();
  }
}
