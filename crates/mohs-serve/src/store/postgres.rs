//! Postgres: for several servers behind one address.
//!
//! Writers of all servers take the same lock, so a transaction sees what the last one left.

use std::collections::HashMap;
use std::error::Error;

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, NoTls, Statement};

use super::StoreError;
use super::connection::{Connection, EachRow, Param, Row};

/// Any number: all writers of `mohs` agree on it.
const LOCK: i64 = 0x6d6f_6873;

/// An open connection to Postgres.
pub(super) struct Postgres {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects; the address is a `postgres://` URL.
    pub(super) fn open(url: &str) -> Result<Self, StoreError> {
        Ok(Self { client: Client::connect(url, NoTls)?, statements: HashMap::new() })
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) => value.to_sql(ty, out),
            Self::Real(value) => value.to_sql(ty, out),
            Self::Text(value) => value.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT].contains(ty)
    }

    to_sql_checked!();
}

impl Connection for Postgres {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let statement = self.statement(sql)?;
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| param as _).collect();
        Ok(self.client.execute(&statement, &params)?)
    }

    fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: EachRow<'_>,
    ) -> Result<(), StoreError> {
        let statement = self.statement(sql)?;
        let mut rows = self.client.query_raw(&statement, params)?;
        while let Some(row) = rows.next()? {
            each(&PostgresRow(&row))?;
        }
        Ok(())
    }

    fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.client.batch_execute(sql)?)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.batch(&format!("begin; select pg_advisory_xact_lock({LOCK})"))
    }

    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    fn dialect(&self) -> &'static str {
        "postgres"
    }
}

struct PostgresRow<'a>(&'a postgres::Row);

impl Row for PostgresRow<'_> {
    fn int(&self, column: usize) -> Option<i64> {
        self.0.try_get(column).ok().flatten()
    }

    fn real(&self, column: usize) -> Option<f64> {
        self.0.try_get(column).ok().flatten()
    }

    fn text(&self, column: usize) -> Option<&str> {
        self.0.try_get(column).ok().flatten()
    }
}
