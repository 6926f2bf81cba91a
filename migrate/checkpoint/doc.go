// Package checkpoint stores a move's state at the target server: the stream's applied position, the progress of copying
// and verifying each table, and refused rows.
//
// It owns the tables of the schema `locus` and every statement on them. It never decides when to write. The caller must
// write a position in the same transaction as its rows.
//
// A write to a table of this schema also marks its transaction for the reverse stream: the transaction's rows came from
// a move and are not sent back. So it must be the first write of its transaction.
package checkpoint
