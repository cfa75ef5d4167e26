// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection that has ended, and the table of many.

use std::net::IpAddr;

use arrow_array::{BooleanArray, Float64Array, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, SchemaRef};
use tandem_tables::Columns;

/// What is known of a connection that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When it ended, seconds since 1970.
    pub time_s: f64,
    /// Which arm: 0 or 1.
    pub arm: usize,
    /// The other end.
    pub peer: IpAddr,
    /// The port that was connected to.
    pub port: u16,
    /// Did the other end open it?
    pub is_accepted: bool,
    /// Was the handshake completed?
    pub is_established: bool,
    /// Bytes that the peer acknowledged.
    pub bytes: u64,
    /// Bytes that came from the peer.
    pub bytes_received: u64,
    /// From its beginning to its end, seconds.
    pub duration_s: f64,
    /// Of that, while there was something to send or to be acknowledged, to half a jiffy.
    pub busy_s: f64,
    /// Of that, limited by the receiver's window.
    pub rwnd_limited_s: f64,
    /// Of that, limited by the send buffer.
    pub sndbuf_limited_s: f64,
    /// Smoothed RTT at the end, microseconds; `None` without a sample.
    pub srtt_us: Option<u32>,
    /// The least RTT of the last minutes, microseconds.
    pub min_rtt_us: Option<u32>,
    /// Segments with data that were sent, retransmissions too.
    pub segments: u32,
    /// Segments that were retransmitted.
    pub retransmitted: u32,
    /// The congestion window at the end.
    pub cwnd_packets: u32,
}

impl Record {
    /// Bits a second while busy; `None` if it sent nothing.
    pub fn goodput_bps(&self) -> Option<f64> {
        (self.is_established && self.bytes > 0 && self.busy_s > 0.0).then(|| self.bytes as f64 * 8.0 / self.busy_s)
    }

    /// The share of segments with data that were retransmissions; `None` if there were none.
    pub fn retransmitted_share(&self) -> Option<f64> {
        let share = f64::from(self.retransmitted) / f64::from(self.segments);
        (self.is_established && self.segments > 0).then_some(share.min(1.0))
    }
}

/// How the table names peers.
#[derive(Clone)]
pub enum PeerNames {
    /// By their addresses.
    Plain,
    /// By a hash under a key that only this value has: nobody can try all addresses, and two trials have no names in common.
    Hashed([u8; 32]),
}

impl PeerNames {
    /// The name of a peer.
    pub fn of(&self, peer: IpAddr) -> String {
        match self {
            Self::Plain => peer.to_string(),
            Self::Hashed(key) => {
                let hash = blake3::keyed_hash(key, peer.to_string().as_bytes());
                hash.to_hex()[..16].to_owned()
            }
        }
    }
}

/// The columns of [`batch`].
pub fn schema() -> SchemaRef {
    batch(&[], ["", ""], &PeerNames::Plain).expect("columns of no rows").schema()
}

/// A row for each connection. `controllers` are the arms' controllers.
///
/// # Errors
/// Never, for records of arms 0 and 1.
pub fn batch(records: &[Record], controllers: [&str; 2], names: &PeerNames) -> Result<RecordBatch, ArrowError> {
    let numbers = |value: fn(&Record) -> f64| Float64Array::from_iter_values(records.iter().map(value));
    let mut columns = Columns::default();
    columns.push("time_s", numbers(|r| r.time_s));
    let controller = records.iter().map(|r| controllers[r.arm.min(1)]);
    columns.push("controller", StringArray::from_iter_values(controller));
    columns.push("peer", StringArray::from_iter_values(records.iter().map(|r| names.of(r.peer))));
    columns.push("port", UInt16Array::from_iter_values(records.iter().map(|r| r.port)));
    columns.push("accepted", BooleanArray::from_iter(records.iter().map(|r| Some(r.is_accepted))));
    columns.push("established", BooleanArray::from_iter(records.iter().map(|r| Some(r.is_established))));
    columns.push("bytes", UInt64Array::from_iter_values(records.iter().map(|r| r.bytes)));
    columns.push("bytes_received", UInt64Array::from_iter_values(records.iter().map(|r| r.bytes_received)));
    columns.push("duration_s", numbers(|r| r.duration_s));
    columns.push("busy_s", numbers(|r| r.busy_s));
    columns.push("rwnd_limited_s", numbers(|r| r.rwnd_limited_s));
    columns.push("sndbuf_limited_s", numbers(|r| r.sndbuf_limited_s));
    columns.push_nullable("goodput_bps", Float64Array::from_iter(records.iter().map(Record::goodput_bps)));
    columns.push_nullable("srtt_us", UInt32Array::from_iter(records.iter().map(|r| r.srtt_us)));
    columns.push_nullable("min_rtt_us", UInt32Array::from_iter(records.iter().map(|r| r.min_rtt_us)));
    columns.push("segments", UInt32Array::from_iter_values(records.iter().map(|r| r.segments)));
    columns.push("retransmitted", UInt32Array::from_iter_values(records.iter().map(|r| r.retransmitted)));
    columns.push("cwnd_packets", UInt32Array::from_iter_values(records.iter().map(|r| r.cwnd_packets)));
    columns.batch(records.len())
}

#[cfg(test)]
pub mod tests {
    use arrow_array::{Array, cast::AsArray};

    use super::*;

    pub fn record() -> Record {
        Record {
            time_s: 1.7e9,
            arm: 0,
            peer: "192.0.2.7".parse().unwrap(),
            port: 443,
            is_accepted: false,
            is_established: true,
            bytes: 1_000_000,
            bytes_received: 100,
            duration_s: 3.0,
            busy_s: 2.0,
            rwnd_limited_s: 0.5,
            sndbuf_limited_s: 0.0,
            srtt_us: Some(20_000),
            min_rtt_us: None,
            segments: 800,
            retransmitted: 8,
            cwnd_packets: 25,
        }
    }

    #[test]
    fn measures_are_those_of_what_was_sent() {
        let sent = record();
        assert_eq!((sent.goodput_bps(), sent.retransmitted_share()), (Some(4e6), Some(0.01)));
        let silent = Record { bytes: 0, segments: 0, ..record() };
        assert_eq!((silent.goodput_bps(), silent.retransmitted_share()), (None, None));
        assert_eq!(Record { is_established: false, ..record() }.goodput_bps(), None);
    }

    #[test]
    fn a_table_has_a_row_for_each_and_no_address_unless_asked() {
        let records = [record(), Record { arm: 1, peer: "192.0.2.8".parse().unwrap(), ..record() }];
        let table = batch(&records, ["new", "old"], &PeerNames::Hashed([7; 32])).unwrap();
        let text =
            |name: &str, row: usize| table.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned();
        assert_eq!([text("controller", 0), text("controller", 1)], ["new", "old"]);
        assert_ne!(text("peer", 0), text("peer", 1));
        assert!(!text("peer", 0).contains("192") && text("peer", 0).len() == 16);
        assert_ne!(PeerNames::Hashed([8; 32]).of(records[0].peer), text("peer", 0), "another trial, another name");
        assert_eq!(PeerNames::Plain.of(records[0].peer), "192.0.2.7");
        assert!(table.column_by_name("min_rtt_us").unwrap().is_null(0));
        assert_eq!((table.num_rows(), table.schema()), (2, schema()));
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("connections.parquet");
        let table = batch(&[record()], ["new", "old"], &PeerNames::Plain).unwrap();
        tandem_tables::write_parquet(&path, schema(), std::slice::from_ref(&table)).unwrap();
        assert_eq!(tandem_tables::read_parquet(&path).unwrap().1, [table]);
    }
}
