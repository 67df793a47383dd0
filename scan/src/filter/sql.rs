use std::fmt::Display;

use iceberg::spec::PrimitiveType;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr as Sql, FunctionArg, FunctionArgExpr, FunctionArguments, InTarget,
    TimezoneInfo, UnaryOperator, Value as SqlValue,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::expr::{Column, Comparison, Expr, Test};
use super::literal::{Literal, Number};
use super::{compare, moment};
use crate::names::Names;
use crate::{Error, Result};

/// Operators and words in a filter; the parser's tree is as deep as a chain of them is long.
const LONGEST: usize = 4000;

/// SQL text as an [`Expr`] over the columns of `names`.
pub(crate) fn bind_sql(text: &str, names: &Names<'_>) -> Result<Expr> {
    let refuse =
        |why: &dyn Display| Error::input(format!("filter `{}` does not parse: {why}", text.escape_debug()));
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location().map_err(|e| refuse(&e))?;
    let tokens = with_nan_tests(tokens).map_err(|why| refuse(&why))?;
    if tokens.iter().all(|t| matches!(t.token, Token::Whitespace(_) | Token::EOF)) {
        return Err(refuse(&"it is empty; a condition such as `amount > 100` is expected"));
    }
    if length(&tokens) > LONGEST {
        return Err(Error::input(format!(
            "a filter has more than {LONGEST} words and operators; put long lists of values into IN (…)"
        )));
    }
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens);
    let sql = parser.parse_expr().map_err(|e| refuse(&e))?;
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        return Err(refuse(&format!("`{}` is left over{}", rest.token, rest.span.start)));
    }
    Binder { names }.condition(&sql, false)
}

/// `IS NAN` is not in the parser's grammar; it travels as `IS NORMALIZED`, which no filter may ask.
fn with_nan_tests(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, String> {
    let mut tokens = tokens;
    let mut after_is = false;
    for token in &mut tokens {
        let Token::Word(word) = &mut token.token else {
            after_is &= matches!(token.token, Token::Whitespace(_));
            continue;
        };
        if word.quote_style.is_none() && word.keyword == Keyword::NORMALIZED {
            return Err("NORMALIZED is not supported".to_owned());
        }
        if after_is && word.quote_style.is_none() && word.value.eq_ignore_ascii_case("nan") {
            token.token = Token::make_keyword("NORMALIZED");
            after_is = false;
            continue;
        }
        after_is = word.keyword == Keyword::IS || (after_is && word.keyword == Keyword::NOT);
    }
    Ok(tokens)
}

/// Tokens but for the members of lists.
fn length(tokens: &[TokenWithSpan]) -> usize {
    let mut count = 0;
    let mut operand = false;
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::Minus if !operand => {}
            Token::Number(..) | Token::SingleQuotedString(_) | Token::HexStringLiteral(_) => operand = true,
            Token::Comma => operand = false,
            other => {
                count += 1;
                operand = matches!(other, Token::Word(_) | Token::RParen);
            }
        }
    }
    count
}

struct Binder<'a> {
    names: &'a Names<'a>,
}

/// One side of a comparison.
enum Side {
    Column(Column),
    Literal(Literal),
}

impl Binder<'_> {
    /// A condition, or its negation.
    fn condition(&self, sql: &Sql, negated: bool) -> Result<Expr> {
        match sql {
            Sql::Nested(inner) => self.condition(inner, negated),
            Sql::UnaryOp { op: UnaryOperator::Not, expr } => self.condition(expr, !negated),
            Sql::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => {
                let conjunction = *op == BinaryOperator::And;
                let parts: Result<Vec<_>> =
                    chain(sql, op).into_iter().map(|part| self.condition(part, negated)).collect();
                Ok(if conjunction != negated { Expr::all(parts?) } else { Expr::any(parts?) })
            }
            Sql::BinaryOp { left, op, right } => self.comparison(left, op, right, negated),
            Sql::Between { expr, negated: not, low, high } => {
                let negated = negated != *not;
                let (low_how, high_how) = match negated {
                    false => (Comparison::Ge, Comparison::Le),
                    true => (Comparison::Lt, Comparison::Gt),
                };
                let low = self.compared(expr, low_how, low)?;
                let high = self.compared(expr, high_how, high)?;
                Ok(if negated { Expr::any([low, high]) } else { Expr::all([low, high]) })
            }
            Sql::In { expr, target: InTarget::List(list), negated: not, .. } => {
                let literals: Result<Vec<_>> = list.iter().map(|item| self.literal(item)).collect();
                compare::in_list(self.column(expr)?, &literals?, negated != *not)
            }
            Sql::IsNull(expr) => {
                compare::unary(self.column(expr)?, if negated { Test::NotNull } else { Test::IsNull })
            }
            Sql::IsNotNull(expr) => {
                compare::unary(self.column(expr)?, if negated { Test::IsNull } else { Test::NotNull })
            }
            Sql::IsNormalized { expr, form: None, negated: not } => {
                compare::is_nan(self.column(expr)?, negated != *not, true)
            }
            Sql::IsTrue(expr) => self.is_boolean(expr, true, negated),
            Sql::IsNotTrue(expr) => self.is_boolean(expr, true, !negated),
            Sql::IsFalse(expr) => self.is_boolean(expr, false, negated),
            Sql::IsNotFalse(expr) => self.is_boolean(expr, false, !negated),
            Sql::Like { negated: not, any: false, expr, pattern, escape_char: None } => {
                self.like(expr, pattern, negated != *not)
            }
            Sql::Function(function) => {
                let arguments = arguments(&function.args);
                match (function.name.to_string().to_ascii_lowercase().as_str(), arguments.as_deref()) {
                    ("isnan" | "is_nan", Some([of])) => compare::is_nan(self.column(of)?, negated, false),
                    ("starts_with" | "startswith" | "prefix", Some([of, prefix])) => {
                        compare::starts_with(self.column(of)?, &self.literal(prefix)?, negated)
                    }
                    _ => Err(unsupported(sql)),
                }
            }
            Sql::Value(value) if matches!(value.value, SqlValue::Boolean(_) | SqlValue::Null) => {
                let holds = match value.value {
                    SqlValue::Boolean(v) => v != negated,
                    _ => false,
                };
                Ok(if holds { Expr::True } else { Expr::False })
            }
            Sql::Identifier(_) | Sql::CompoundIdentifier(_) => {
                compare::comparison(self.column(sql)?, Comparison::Eq, &Literal::Boolean(!negated))
            }
            other => Err(unsupported(other)),
        }
    }

    fn comparison(&self, left: &Sql, op: &BinaryOperator, right: &Sql, negated: bool) -> Result<Expr> {
        let how = match op {
            BinaryOperator::Lt => Comparison::Lt,
            BinaryOperator::LtEq => Comparison::Le,
            BinaryOperator::Gt => Comparison::Gt,
            BinaryOperator::GtEq => Comparison::Ge,
            BinaryOperator::Eq => Comparison::Eq,
            BinaryOperator::NotEq => Comparison::Ne,
            _ => return Err(unsupported(&format!("{left} {op} {right}"))),
        };
        self.compared(left, if negated { how.negated() } else { how }, right)
    }

    /// `left how right`, one of them a column and the other a literal.
    fn compared(&self, left: &Sql, how: Comparison, right: &Sql) -> Result<Expr> {
        match (self.side(left)?, self.side(right)?) {
            (Side::Column(column), Side::Literal(literal)) => compare::comparison(column, how, &literal),
            (Side::Literal(literal), Side::Column(column)) => {
                compare::comparison(column, how.flipped(), &literal)
            }
            (Side::Column(_), Side::Column(_)) => Err(Error::input(format!(
                "filter compares two columns, `{left}` and `{right}`; compare a column with a value"
            ))),
            (Side::Literal(_), Side::Literal(_)) => Err(Error::input(format!(
                "filter compares two values, {left} and {right}; name a column, strings take single quotes"
            ))),
        }
    }

    fn side(&self, sql: &Sql) -> Result<Side> {
        match sql {
            Sql::Nested(inner) => self.side(inner),
            Sql::Identifier(_) | Sql::CompoundIdentifier(_) => Ok(Side::Column(self.column(sql)?)),
            other => Ok(Side::Literal(self.literal(other)?)),
        }
    }

    fn column(&self, sql: &Sql) -> Result<Column> {
        match sql {
            Sql::Nested(inner) => self.column(inner),
            Sql::Identifier(name) => compare::column(self.names, &name.value),
            Sql::CompoundIdentifier(parts) => {
                let parts: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
                compare::column(self.names, &parts.join("."))
            }
            other => Err(Error::input(format!("filter has `{other}` where a column is expected"))),
        }
    }

    fn literal(&self, sql: &Sql) -> Result<Literal> {
        let refuse = || Error::input(format!("filter has `{sql}` where a value is expected"));
        match sql {
            Sql::Nested(inner) => self.literal(inner),
            Sql::Value(value) => match &value.value {
                SqlValue::Null => Ok(Literal::Null),
                SqlValue::Boolean(v) => Ok(Literal::Boolean(*v)),
                SqlValue::Number(text, _) => Number::parse(text).map(Literal::Number).ok_or_else(refuse),
                SqlValue::SingleQuotedString(text) => Ok(Literal::Text(text.clone())),
                SqlValue::HexStringLiteral(digits) => {
                    moment::hex(digits).map(Literal::Bytes).ok_or_else(refuse)
                }
                _ => Err(refuse()),
            },
            Sql::UnaryOp { op: sign @ (UnaryOperator::Minus | UnaryOperator::Plus), expr } => {
                match (self.literal(expr)?, sign) {
                    (Literal::Number(number), UnaryOperator::Minus) => Ok(Literal::Number(number.minus())),
                    (literal @ Literal::Number(_), _) => Ok(literal),
                    _ => Err(refuse()),
                }
            }
            Sql::TypedString(typed) => match &typed.value.value {
                SqlValue::SingleQuotedString(text) => typed_literal(&typed.data_type, text),
                _ => Err(refuse()),
            },
            Sql::Cast { expr, data_type, format: None, .. } => match self.literal(expr)? {
                Literal::Text(text) => typed_literal(data_type, &text),
                _ => Err(refuse()),
            },
            _ => Err(refuse()),
        }
    }

    /// `flag IS TRUE` and its like: never unknown.
    fn is_boolean(&self, of: &Sql, wanted: bool, negated: bool) -> Result<Expr> {
        let column = self.column(of)?;
        if column.kind != Some(PrimitiveType::Boolean) {
            return Err(Error::input(format!(
                "filter asks whether `{}` is {wanted}, but it is not boolean",
                column.name
            )));
        }
        let test = compare::comparison(column.clone(), Comparison::Eq, &Literal::Boolean(wanted != negated))?;
        Ok(match negated {
            true => Expr::any([test, Expr::Test(column, Test::IsNull)]),
            false => test,
        })
    }

    fn like(&self, of: &Sql, pattern: &Sql, negated: bool) -> Result<Expr> {
        let column = self.column(of)?;
        let literal = self.literal(pattern)?;
        let Literal::Text(text) = &literal else { return compare::starts_with(column, &literal, negated) };
        let prefix = text.trim_end_matches('%');
        if prefix.contains(['%', '_']) {
            return Err(Error::input(format!(
                "filter has LIKE {literal}; only a prefix is supported, such as LIKE 'abc%'"
            )));
        }
        if prefix.len() == text.len() {
            let how = if negated { Comparison::Ne } else { Comparison::Eq };
            return compare::comparison(column, how, &literal);
        }
        compare::starts_with(column, &Literal::Text(prefix.to_owned()), negated)
    }
}

fn typed_literal(data_type: &DataType, text: &str) -> Result<Literal> {
    let refuse =
        || Error::input(format!("filter has {data_type} '{}', which is no such value", text.escape_debug()));
    match data_type {
        DataType::Date => moment::date(text).map(Literal::Date).ok_or_else(refuse),
        DataType::Time(..) => moment::time(text).map(Literal::Time).ok_or_else(refuse),
        DataType::Timestamp(_, zone) => {
            let literal = match moment::literal(text).ok_or_else(refuse)? {
                Literal::Date(days) => {
                    Literal::Timestamp { nanos: i128::from(days) * moment::NANOS_A_DAY, instant: false }
                }
                other => other,
            };
            Ok(match (literal, zone) {
                (Literal::Timestamp { nanos, .. }, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) => {
                    Literal::Timestamp { nanos, instant: true }
                }
                (literal, _) => literal,
            })
        }
        DataType::Datetime(_) | DataType::TimestampNtz(_) => moment::literal(text)
            .filter(|l| matches!(l, Literal::Timestamp { instant: false, .. }))
            .ok_or_else(refuse),
        DataType::Uuid => moment::uuid(text).map(Literal::Bytes).ok_or_else(refuse),
        other => Err(Error::input(format!(
            "filter has a literal of type {other}; known are DATE, TIME, TIMESTAMP and UUID before a string"
        ))),
    }
}

/// The operands of a chain of one operator.
fn chain<'a>(sql: &'a Sql, chained: &BinaryOperator) -> Vec<&'a Sql> {
    let mut parts = Vec::new();
    let mut rest = vec![sql];
    while let Some(next) = rest.pop() {
        match next {
            Sql::BinaryOp { left, op, right } if op == chained => {
                rest.extend([right.as_ref(), left.as_ref()])
            }
            other => parts.push(other),
        }
    }
    parts
}

fn arguments(arguments: &FunctionArguments) -> Option<Vec<Sql>> {
    let FunctionArguments::List(list) = arguments else { return None };
    list.args
        .iter()
        .map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
            _ => None,
        })
        .collect()
}

fn unsupported(sql: &dyn Display) -> Error {
    Error::input(format!(
        "filter has `{sql}`, which is not supported; conditions are comparisons of a column with a value, BETWEEN, IN, IS NULL, IS NAN and LIKE 'abc%', joined by AND, OR and NOT"
    ))
}
