// Package shop runs the sample shop as a cluster for tests: real database servers, the declared cluster in memory instead of
// etcd, and a proxy that listens on loopback, in the test's own process.
//
// It owns everything that it starts, and ends it with the test.
package shop
