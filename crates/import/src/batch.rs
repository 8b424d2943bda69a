//! Rows on their way from the parser to the database: one buffer of text and one of cells.

/// A batch is handed on once its text is this long, bytes: it stays within a processor's cache.
pub const FULL: usize = 128 << 10;

/// One value. Text lies in the batch's buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BatchCell {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// From where, and how many bytes.
    Text(u32, u32),
}

/// Some rows.
#[derive(Debug, Default)]
pub struct Batch {
    /// The text of the cells; its length is its capacity, of which `used` bytes are filled.
    pub text: Vec<u8>,
    /// The used bytes of the text.
    pub used: usize,
    /// The values, row after row.
    pub cells: Vec<BatchCell>,
    /// The line on which each row begins.
    pub lines: Vec<u64>,
    /// The number of each row's record among all records, from 0. Several may begin on one line.
    pub records: Vec<u64>,
    /// Cells in a row.
    pub columns: usize,
    /// The fields of each row as its file has them, from where to where in the text, and their number in a row. Columns
    /// that are not loaded are among them, and what was written in another form.
    pub fields: Vec<(u32, u32)>,
    /// Fields in a row.
    pub width: usize,
    /// True if the text is the rows as a server reads them, and there are no cells.
    pub is_written: bool,
}

impl Batch {
    /// Empties it for other rows of `columns` columns.
    pub fn clear(&mut self, columns: usize) {
        self.used = 0;
        self.cells.clear();
        self.lines.clear();
        self.records.clear();
        self.columns = columns;
        self.fields.clear();
        self.width = 0;
        self.is_written = false;
        // The capacity that one huge record needed is not kept for ever.
        self.text.truncate(2 * FULL);
        self.text.shrink_to(2 * FULL);
        self.text.resize(2 * FULL, 0);
    }

    /// Puts bytes behind the text.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        let start = self.used;
        self.used += bytes.len();
        if self.text.len() < self.used {
            self.text.resize(self.used + FULL, 0);
        }
        self.text[start..self.used].copy_from_slice(bytes);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// True once the batch should be handed on.
    pub fn is_full(&self) -> bool {
        self.used >= FULL || self.cells.len() >= FULL / 8
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> &[BatchCell] {
        &self.cells[row * self.columns..][..self.columns]
    }

    /// The fields of a row as its file has them.
    pub fn record(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let fields = self.fields[row * self.width..][..self.width].iter();
        fields.map(|&(from, to)| &self.text[from as usize..to as usize])
    }

    /// The text of a cell.
    #[inline]
    pub fn text_of(&self, start: u32, length: u32) -> &[u8] {
        &self.text[start as usize..][..length as usize]
    }

    /// A cell as it is printed; nothing for NULL.
    pub fn print(&self, cell: BatchCell) -> Vec<u8> {
        match cell {
            BatchCell::Null => Vec::new(),
            BatchCell::Integer(number) => number.to_string().into_bytes(),
            BatchCell::Real(number) => number.to_string().into_bytes(),
            BatchCell::Text(start, length) => self.text_of(start, length).to_vec(),
        }
    }
}
