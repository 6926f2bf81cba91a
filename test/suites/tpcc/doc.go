// Package tpcc runs TPC-C as go-tpc has it, unmodified, with its tables sharded by warehouse: it makes and fills them, runs its
// transactions, and checks the conditions that the data has to meet. How fast it is is not asked.
package tpcc
