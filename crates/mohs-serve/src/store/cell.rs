//! Cells: what is to be filled, how full it is, and how much is promised.

use super::StoreError;
use super::connection::{Connection, Row};

/// A cell, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRow {
    /// Its number within the study.
    pub cell: i64,
    /// What it is, as JSON; unique within the study.
    pub name: String,
    /// The stimulus; pairs: the first; beep: empty.
    pub stimulus: String,
    /// The condition.
    pub condition: Option<String>,
    /// Pairs: the second stimulus.
    pub right_stimulus: Option<String>,
    /// Position of the exposure or of the order of blocks.
    pub exposure_idx: i64,
    /// Trials wanted.
    pub target: i64,
    /// Trials that count.
    pub n_done: i64,
    /// Trials promised to somebody.
    pub n_leased: i64,
    /// Puts equally full cells in random order.
    pub tie: i64,
}

impl CellRow {
    /// Returns what is done and promised.
    pub fn fill(&self) -> i64 {
        self.n_done + self.n_leased
    }

    /// Returns whether there is room for one more.
    pub fn is_open(&self) -> bool {
        self.fill() < self.target
    }
}

const COLUMNS: &str = "cell, name, stimulus, condition, right_stimulus, exposure_idx, target, \
    n_done, n_leased, tie";

fn read(row: &dyn Row) -> CellRow {
    CellRow {
        cell: row.whole(0),
        name: row.word(1),
        stimulus: row.word(2),
        condition: row.owned(3),
        right_stimulus: row.owned(4),
        exposure_idx: row.whole(5),
        target: row.whole(6),
        n_done: row.whole(7),
        n_leased: row.whole(8),
        tie: row.whole(9),
    }
}

/// Returns all cells of a study.
pub fn all(tx: &mut dyn Connection, study: &str) -> Result<Vec<CellRow>, StoreError> {
    let sql = format!("select {COLUMNS} from cell where study = $1 order by cell");
    tx.rows(&sql, &[study.into()], read)
}

/// Returns one cell.
pub fn find(
    tx: &mut dyn Connection,
    study: &str,
    cell: i64,
) -> Result<Option<CellRow>, StoreError> {
    let sql = format!("select {COLUMNS} from cell where study = $1 and cell = $2");
    tx.first(&sql, &[study.into(), cell.into()], read)
}

/// Returns the least filled cells with room, the emptiest first and equals in random order.
pub fn least_filled(
    tx: &mut dyn Connection,
    study: &str,
    exposure_idx: i64,
    limit: usize,
) -> Result<Vec<CellRow>, StoreError> {
    let sql = format!(
        "select {COLUMNS} from cell where study = $1 and is_open = 1 and exposure_idx = $2 \
         order by fill, tie limit $3"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.rows(&sql, &[study.into(), exposure_idx.into(), limit.into()], read)
}

/// What a choice needs to know of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCell<'a> {
    /// Its number within the study.
    pub cell: i64,
    /// The stimulus.
    pub stimulus: &'a str,
    /// The condition.
    pub condition: Option<&'a str>,
    /// What is done and promised.
    pub fill: i64,
}

/// Hands on the least filled cells with room, the emptiest first and equals in random order.
pub fn each_least_filled(
    tx: &mut dyn Connection,
    study: &str,
    exposure_idx: i64,
    limit: usize,
    each: &mut dyn FnMut(OpenCell<'_>),
) -> Result<(), StoreError> {
    let sql = "select cell, stimulus, condition, fill from cell where study = $1 and is_open = 1 \
               and exposure_idx = $2 order by fill, tie limit $3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.each(sql, &[study.into(), exposure_idx.into(), limit.into()], &mut |row| {
        each(OpenCell {
            cell: row.whole(0),
            stimulus: row.text(1).unwrap_or_default(),
            condition: row.text(2),
            fill: row.whole(3),
        });
        Ok(())
    })
}

/// Returns whether any cell has room.
pub fn has_room(tx: &mut dyn Connection, study: &str) -> Result<bool, StoreError> {
    let sql = "select cell from cell where study = $1 and is_open = 1 limit 1";
    Ok(tx.first(sql, &[study.into()], |_| ())?.is_some())
}

/// Adds a cell.
pub fn insert(tx: &mut dyn Connection, study: &str, row: &CellRow) -> Result<(), StoreError> {
    tx.execute(
        "insert into cell (study, cell, name, stimulus, condition, right_stimulus, exposure_idx, \
         target, n_done, n_leased, fill, tie, is_open) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        &[
            study.into(),
            row.cell.into(),
            (&row.name).into(),
            (&row.stimulus).into(),
            row.condition.as_ref().into(),
            row.right_stimulus.as_ref().into(),
            row.exposure_idx.into(),
            row.target.into(),
            row.n_done.into(),
            row.n_leased.into(),
            row.fill().into(),
            row.tie.into(),
            row.is_open().into(),
        ],
    )?;
    Ok(())
}

/// Stores how full a cell is.
pub fn update(tx: &mut dyn Connection, study: &str, row: &CellRow) -> Result<(), StoreError> {
    tx.execute(
        "update cell set target = $3, n_done = $4, n_leased = $5, fill = $6, tie = $7, \
         is_open = $8 where study = $1 and cell = $2",
        &[
            study.into(),
            row.cell.into(),
            row.target.into(),
            row.n_done.into(),
            row.n_leased.into(),
            row.fill().into(),
            row.tie.into(),
            row.is_open().into(),
        ],
    )?;
    Ok(())
}

/// Adds to what is done and promised of a cell; neither falls below 0.
pub fn add(
    tx: &mut dyn Connection,
    study: &str,
    cell: i64,
    done: i64,
    leased: i64,
) -> Result<(), StoreError> {
    // The usual case, a promise kept: how full the cell is does not change, and neither does an index.
    let sql = if done + leased == 0 {
        "update cell set n_done = n_done + $3, n_leased = n_leased + $4 \
         where study = $1 and cell = $2 and 0 <= n_done + $3 and 0 <= n_leased + $4"
    } else {
        "update cell set n_done = n_done + $3, n_leased = n_leased + $4, fill = fill + $3 + $4, \
         is_open = case when fill + $3 + $4 < target then 1 else 0 end \
         where study = $1 and cell = $2 and 0 <= n_done + $3 and 0 <= n_leased + $4"
    };
    let n_changed = tx.execute(sql, &[study.into(), cell.into(), done.into(), leased.into()])?;
    if 0 < n_changed {
        return Ok(());
    }
    let Some(mut row) = find(tx, study, cell)? else { return Ok(()) };
    row.n_done = (row.n_done + done).max(0);
    row.n_leased = (row.n_leased + leased).max(0);
    update(tx, study, &row)
}

/// Promises one more trial of a cell and puts it anew among its equals.
pub fn lease(tx: &mut dyn Connection, study: &str, cell: i64, tie: i64) -> Result<(), StoreError> {
    tx.execute(
        "update cell set n_leased = n_leased + 1, fill = fill + 1, tie = $3, \
         is_open = case when fill + 1 < target then 1 else 0 end where study = $1 and cell = $2",
        &[study.into(), cell.into(), tie.into()],
    )?;
    Ok(())
}
