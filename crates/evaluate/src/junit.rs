// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment as JUnit XML, which CI tools read: a test case for each criterion.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::{
    assessment::{Answer, Assessment, Row},
    real_tcp::{Agreement, RealTcp},
    text::lines_of,
};

/// The XML. What fails is a failure, what is undecided or not posed is skipped, with the reason. Over real TCP a criterion is a case of its own.
///
/// # Errors
/// If the XML cannot be written.
pub fn junit(assessment: &Assessment) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("{}, {}", assessment.suite, assessment.contender));
    for row in &assessment.rows {
        suite.add_test_case(case(row));
        suite.add_test_cases(row.real_tcp.iter().map(|there| case_there(there, row)));
    }
    suite.add_test_cases(
        assessment
            .unposed
            .iter()
            .map(|one| named(TestCase::new(&*one.title, skipped(&one.why)), &format!("rfc9743.{}", one.section))),
    );
    let mut report = Report::new("tandem evaluate");
    report.add_test_suite(suite);
    report.to_string()
}

fn case(row: &Row) -> TestCase {
    let broken = |answer: Answer| {
        let asked = row.asked.iter().filter(move |asked| asked.answer == answer);
        asked.map(|asked| format!("{}: {} [{}]", asked.text, asked.finding, asked.owner)).collect::<Vec<_>>().join("\n")
    };
    let status = match row.answer {
        Answer::Passes => TestCaseStatus::success(),
        Answer::Undecided => skipped(&format!("undecided: {}", broken(Answer::Undecided))),
        Answer::NotMeasured | Answer::NotApplicable => {
            let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            skipped(&format!("{}{why}", row.answer.words()))
        }
        Answer::Fails => {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failure.set_message(&*row.question).set_description(broken(Answer::Fails));
            failure
        }
    };
    named(TestCase::new(&*row.title, status), &row.id.replace('/', "."))
}

/// Over real TCP.
fn case_there(there: &RealTcp, row: &Row) -> TestCase {
    let lines = lines_of(there, row).join("\n");
    let status = match (there.agreement, there.answer) {
        (Agreement::NotPosed | Agreement::NotMeasured, _) => skipped(&format!("{}: {}", there.word(), there.why)),
        (_, Answer::Passes) => TestCaseStatus::success(),
        (_, Answer::Fails) => {
            let broken = there.asked.iter().filter(|asked| asked.answer == Answer::Fails);
            let broken: Vec<String> = broken.map(|asked| format!("{}: {}", asked.text, asked.finding)).collect();
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failure.set_message(&*row.question).set_description(format!("{}\n{lines}", broken.join("\n")));
            failure
        }
        (_, other) => skipped(&format!("{}: {lines}", other.words())),
    };
    named(TestCase::new(format!("{}, over real TCP", row.title), status), &row.id.replace('/', "."))
}

/// Tools group the cases by class.
fn named(mut case: TestCase, class: &str) -> TestCase {
    case.set_classname(class);
    case
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut skipped = TestCaseStatus::skipped();
    skipped.set_message(why);
    skipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::tests::{over_real_tcp, with_one_that_does_not_apply};

    #[test]
    fn over_real_tcp_a_criterion_is_another_case() {
        let text = junit(&over_real_tcp()).expect("it is written");
        let back = Report::deserialize_from_str(&text).expect("it is read again");
        let case = |name: &str| {
            let cases = &back.test_suites[0].test_cases;
            cases
                .iter()
                .find(|case| case.name.as_str() == name)
                .unwrap_or_else(|| panic!("{name}: {text}"))
                .status
                .clone()
        };
        assert!(matches!(case("Title of 5.1.3, over real TCP"), TestCaseStatus::Success { .. }));
        let TestCaseStatus::Skipped { message, .. } = case("Title of 7.8, over real TCP") else { panic!("{text}") };
        assert_eq!(message.expect("it says why").as_str(), "not measured: the machine was too busy");
    }

    #[test]
    fn each_criterion_is_a_case() {
        let assessment = with_one_that_does_not_apply();
        let text = junit(&assessment).expect("it is written");
        let back = Report::deserialize_from_str(&text).expect("it is read again");
        let suite = &back.test_suites[0];
        // One fails of four, one is undecided, one does not apply; the rest cannot be posed.
        assert_eq!((suite.failures, suite.test_cases.len()), (1, 4 + assessment.unposed.len()));
        let apart = suite.test_cases.iter().find(|case| case.name.as_str() == "Title of 8").expect("it is there");
        let TestCaseStatus::Skipped { message, .. } = &apart.status else { panic!("{apart:?}") };
        assert_eq!(message.as_ref().expect("why").as_str(), "does not apply: this is asked of others alone");
        let failed = suite.test_cases.iter().find(|case| case.name.as_str() == "Title of 5.1.3").expect("it is there");
        let TestCaseStatus::NonSuccess { description, .. } = &failed.status else { panic!("{failed:?}") };
        let description = description.as_ref().expect("it says why").as_str();
        assert_eq!(description, "at most 2 % are dropped: 3.1 ± 0.2 at 0.1 [a draft]");
    }
}
