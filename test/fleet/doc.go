// Package fleet runs deploy/three-proxies unchanged, on one machine: three nodes of etcd, three database
// servers and three proxies, with TLS and passwords everywhere, under the load of clients whose pools know all
// proxies. Programs are replaced and restarted one by one, and the test counts the errors that clients see.
//
// It owns the processes that it starts. It fills in addresses, paths and passwords, and changes nothing else of
// the example: what fails here would fail for everybody who follows the example. For that reason it does not
// use test/cluster, whose servers, etcd and accounts are not those of the example.
package fleet
