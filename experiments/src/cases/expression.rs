// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic and comparisons, as cases write them: `abs(max_bw / rate - 1) <= 0.02`. What holds is 1, what does not is 0.

/// An expression whose names have been looked up.
#[derive(Debug, Clone)]
pub enum Expression {
    Number(f64),
    /// A place in the list of names.
    Name(usize),
    Of(Operator, Box<[Expression; 2]>),
    Call(Function, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Below,
    Above,
    Plus,
    Minus,
    Times,
    Over,
}

use Operator::{Above, And, AtLeast, AtMost, Below, Equal, Minus, Or, Over, Plus, Times, Unequal};

/// By precedence, the loosest first; of those with one beginning the longest first.
const OPERATORS: [&[(&str, Operator)]; 5] = [
    &[("or ", Or)],
    &[("and ", And)],
    &[("==", Equal), ("!=", Unequal), ("<=", AtMost), (">=", AtLeast), ("<", Below), (">", Above)],
    &[("+", Plus), ("-", Minus)],
    &[("*", Times), ("/", Over)],
];

#[derive(Debug, Clone, Copy)]
pub enum Function {
    Abs,
    Ceil,
    Log2,
    Min,
    Max,
}

const FUNCTIONS: [(&str, Function, usize); 5] = [
    ("abs", Function::Abs, 1),
    ("ceil", Function::Ceil, 1),
    ("log2", Function::Log2, 1),
    ("min", Function::Min, 2),
    ("max", Function::Max, 2),
];

impl Expression {
    /// Reads a text; `place` looks a name up.
    ///
    /// # Errors
    /// With what is wrong, and where.
    pub(super) fn parse(text: &str, place: &dyn Fn(&str) -> Option<usize>) -> Result<Self, String> {
        let mut reader = Reader { rest: text, place };
        let expression = reader.operation(0)?;
        match reader.rest.trim() {
            "" => Ok(expression),
            rest => Err(format!("`{text}` is not understood from `{rest}` on")),
        }
    }

    /// Its value; `of` gives the value of a name.
    pub fn value(&self, of: &dyn Fn(usize) -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Name(place) => of(*place),
            Self::Of(operator, sides) => apply(*operator, sides[0].value(of), sides[1].value(of)),
            Self::Call(function, given) => {
                let at = |i: usize| given[i].value(of);
                match function {
                    Function::Abs => at(0).abs(),
                    Function::Ceil => at(0).ceil(),
                    Function::Log2 => at(0).log2(),
                    Function::Min => at(0).min(at(1)),
                    Function::Max => at(0).max(at(1)),
                }
            }
        }
    }
}

fn apply(operator: Operator, a: f64, b: f64) -> f64 {
    let truth = |holds: bool| f64::from(u8::from(holds));
    match operator {
        Or => truth(a != 0.0 || b != 0.0),
        And => truth(a != 0.0 && b != 0.0),
        Equal => truth(a == b),
        Unequal => truth(a != b),
        AtMost => truth(a <= b),
        AtLeast => truth(a >= b),
        Below => truth(a < b),
        Above => truth(a > b),
        Plus => a + b,
        Minus => a - b,
        Times => a * b,
        Over => a / b,
    }
}

struct Reader<'a> {
    rest: &'a str,
    place: &'a dyn Fn(&str) -> Option<usize>,
}

impl Reader<'_> {
    /// Takes this text if it is next.
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start();
        let next = rest.strip_prefix(text);
        self.rest = next.unwrap_or(rest);
        next.is_some()
    }

    fn operation(&mut self, level: usize) -> Result<Expression, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.atom() };
        let mut left = self.operation(level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(word, _)| self.takes(word)) {
            let right = self.operation(level + 1)?;
            left = Expression::Of(operator, Box::new([left, right]));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        if self.takes("(") {
            let inner = self.operation(0)?;
            return if self.takes(")") { Ok(inner) } else { Err("a `)` is missing".into()) };
        }
        if self.takes("-") {
            return Ok(Expression::Of(Minus, Box::new([Expression::Number(0.0), self.atom()?])));
        }
        let word = self.word();
        if word.is_empty() {
            return Err(format!("a number or a name is missing before `{}`", self.rest));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map(Expression::Number).map_err(|_| format!("`{word}` is not a number"));
        }
        if let Some(&(name, function, count)) = FUNCTIONS.iter().find(|(name, ..)| *name == word) {
            return self.call(name, function, count);
        }
        (self.place)(&word).map(Expression::Name).ok_or_else(|| format!("there is no `{word}`"))
    }

    /// A number or a name, which may have dots.
    fn word(&mut self) -> String {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word.to_owned()
    }

    fn call(&mut self, name: &str, function: Function, count: usize) -> Result<Expression, String> {
        let wrong = || format!("`{name}` takes {count} values in brackets, with commas between them");
        if !self.takes("(") {
            return Err(wrong());
        }
        let mut given = vec![self.operation(0)?];
        while self.takes(",") {
            given.push(self.operation(0)?);
        }
        if self.takes(")") && given.len() == count { Ok(Expression::Call(function, given)) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<f64, String> {
        let names = ["rate", "since.rate"];
        let place = |name: &str| names.iter().position(|known| *known == name);
        Ok(Expression::parse(text, &place)?.value(&|place| [8.0, 2.0][place]))
    }

    #[test]
    fn values() {
        for (text, value) in [
            ("1 + 2 * 3 - 4 / 2", 5.0),
            ("10 - 3 - 2", 5.0),
            ("-(rate - 2) * 0.5", -3.0),
            ("max(rate, 9) + min(rate, since.rate)", 11.0),
            ("abs(1 - rate) <= 7 and log2(rate) == 3", 1.0),
            ("ceil(rate / 3) != 3 or rate > 8", 0.0),
            ("rate >= 8 and (rate < 8 or 1)", 1.0),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn mistakes() {
        for (text, message) in [
            ("rte * 2", "there is no `rte`"),
            ("(1 + 2", "`)` is missing"),
            ("1 +", "a number or a name is missing"),
            ("min(1)", "takes 2 values"),
            ("1 2", "not understood from `2`"),
            ("1.2.3", "not a number"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
