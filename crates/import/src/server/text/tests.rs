//! A server gets the same rows from the text parser as from cells.

use std::collections::VecDeque;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use super::super::common::{write, written};
use super::*;
use crate::convert::Wanted;
use crate::input::{Format, Input};
use crate::parse::Parser;
use crate::pipeline::{self, ImportObserver};
use crate::rejects::OnError;
use crate::shape::{Choose, Shape};
use crate::source::Source;
use crate::syntax::LONGEST;

struct Patient;

impl ImportObserver for Patient {
    fn stops(&self) -> bool {
        false
    }
    fn reached(&self, _: u64, _: u64) {}
    fn doing(&self, _: &str) {}
}

/// A text and the columns that it is for.
#[derive(Debug, Clone)]
struct Case {
    text: Vec<u8>,
    dialect: Dialect,
    kinds: Vec<Kind>,
    nulls: Vec<Vec<u8>>,
    refused: HashMap<u64, String>,
    is_rejecting: bool,
}

/// The bytes for the server, the lines and records of the rows, and the bad rows; or the error that ended it.
type Outcome = Result<(Vec<u8>, Vec<(u64, u64)>, Vec<u8>), String>;

impl Case {
    fn converter(&self) -> Converter {
        let wanted = |kind: &Kind| Wanted {
            name: format!("{kind:?}"),
            kind: *kind,
            inferred: false,
            required: false,
            nulls: Vec::new(),
        };
        let (columns, nulls) = (self.kinds.iter().map(wanted).collect(), self.nulls.clone());
        Converter { columns, nulls, is_text: true }
    }

    fn outcome(&self, parse: impl FnOnce(&Sender, Arc<Mutex<Rejects>>) -> Result<()> + Send) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rejects");
        let on_error = match self.is_rejecting {
            true => OnError::Reject { file: file.clone(), most: 3 },
            false => OnError::Stop,
        };
        let rejects = Arc::new(Mutex::new(Rejects::new(&on_error, vec!["t".into()], 0o600)));
        let (given, mut room) = (rejects.clone(), Vec::new());
        let ran = pipeline::run(
            Arc::default(),
            rejects.clone(),
            &Patient,
            1 << 20,
            move |sender| parse(sender, given),
            |rows, check| {
                let (mut bytes, mut lines) = (Vec::new(), Vec::new());
                while let Some(batch) = rows.batch()? {
                    write(&batch, &mut room);
                    bytes.extend_from_slice(written(&batch, &room));
                    lines.extend(batch.lines.iter().copied().zip(batch.records.iter().copied()));
                    rows.recycle(batch);
                }
                check()?;
                Ok((bytes, lines))
            },
        );
        let ((bytes, lines), _) = ran.map_err(|error| format!("{error:#}"))?;
        Arc::into_inner(rejects).unwrap().into_inner().unwrap().seal().unwrap();
        Ok((bytes, lines, std::fs::read(&file).unwrap_or_default()))
    }

    fn as_text(&self, size: usize) -> Outcome {
        let text = Box::new(Cursor::new(self.text.clone()));
        self.outcome(move |sender, rejects| {
            let chunks = Chunks::new(text, self.dialect, "t".into(), 1, size, LONGEST);
            let (converter, refused) = (self.converter(), self.refused.clone());
            let parser =
                TextParser { chunks, dialect: self.dialect, name: "t".into(), converter, refused, rejects };
            parser.run(sender)
        })
    }

    /// The rows as cells, of which a shape picks some columns.
    fn as_cells(&self, shape: Option<Shape>) -> Outcome {
        let format = Format {
            longest: LONGEST,
            syntax: self.dialect.into(),
            skip: 0,
            has_header: false,
            encoding: None,
            is_json: false,
            names: Vec::new(),
            keys: Vec::new(),
            is_delimited: true,
        };
        let (text, source) = (Box::new(Cursor::new(self.text.clone())), Source::new(Path::new("t")));
        let input = Input::new(format, shape, text, Default::default(), &source, VecDeque::new()).unwrap();
        self.outcome(move |sender, rejects| {
            let (converter, refused) = (self.converter(), self.refused.clone());
            let input = Box::new(input);
            let parser = Parser { input, converter, typed: false, zeros: false, refused, rejects };
            parser.run(sender)
        })
    }
}

#[test]
fn a_zero_byte_is_looked_for_in_the_columns_that_are_loaded() {
    let fields = ["c1", "c2"].map(str::to_owned);
    let outcome = |skipped: &str, kind| {
        let choose = Choose { skipped: vec![skipped.to_owned()], ..Choose::default() };
        let case = Case {
            text: b"1,a\0b\n".to_vec(),
            dialect: Dialect { delimiter: b',', quotes: false },
            kinds: vec![kind],
            nulls: Vec::new(),
            refused: HashMap::new(),
            is_rejecting: false,
        };
        case.as_cells(Some(Shape::new(&fields, &choose).unwrap().0))
    };
    assert_eq!(outcome("c2", Kind::INTEGER), Ok((b"1\n".to_vec(), vec![(1, 0)], Vec::new())));
    let refused = outcome("c1", Kind::TEXT).unwrap_err();
    assert!(refused.contains("holds a zero byte"), "{refused}");
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 22] = [
        b"a",
        b",",
        b",",
        b",",
        b"\t",
        b"\n",
        b"\n",
        b"\r",
        b"\"",
        b"\\",
        b"\\N",
        b"\\.",
        b"12",
        b"-7",
        b"0",
        b"1.5",
        b"\0",
        b"\xef\xbb\xbf",
        "é".as_bytes(),
        b"\xff",
        b"007",
        b"9223372036854775807",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat())
}

/// Rows of which most are right.
fn rows() -> impl Strategy<Value = Vec<u8>> {
    let row = ("-?[0-9]{0,20}", "[a-cé\\\\]{0,5}", prop::sample::select(vec!["1.5", "", "7", "2e3", "x"]));
    let row = row.prop_map(|(whole, text, real)| format!("{whole},{text},{real}\n"));
    prop::collection::vec(row, 0..12).prop_map(|rows| rows.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn a_server_gets_what_cells_would_come_to(
        text in prop_oneof![text(), rows()],
        delimiter in prop::sample::select(vec![b',', b',', b'\t', b'\\', 0]),
        quotes in any::<bool>(), is_rejecting in any::<bool>(),
        kinds in prop::sample::select(vec![
            vec![Kind::INTEGER, Kind::TEXT, Kind::Real],
            vec![Kind::TEXT],
            vec![Kind::TEXT, Kind::TEXT],
            vec![Kind::Integer { min: -8, max: 100 }, Kind::Text { longest: Some(2) }],
            vec![Kind::Empty, Kind::AsIs],
        ]),
        nulls in prop::sample::select(vec![vec![], vec![], vec![b"a".to_vec()]]),
        refused in prop::option::weighted(0.2, 0..4u64), size in 1..80usize,
    ) {
        let refused = refused.map(|record| (record, "is refused".to_owned())).into_iter().collect();
        let dialect = Dialect { delimiter, quotes };
        let case = Case { text, dialect, kinds, nulls, refused, is_rejecting };
        prop_assert_eq!(case.as_text(size), case.as_cells(None));
    }
}
