// Package shop gives tests the sample shop as a running cluster: real database servers, the declared cluster in
// memory instead of etcd, and a proxy that listens on loopback, in the test's own process.
//
// It owns what it starts, and ends all of it with the test.
package shop
