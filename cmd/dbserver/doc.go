// Package dbserver finds the database servers that are installed on this machine and runs them as child
// processes, each in a directory of its own, for the demo and for tests: MariaDB, and MySQL from the PATH or
// from a Debian tree that is run through its own dynamic loader.
//
// It owns these directories and processes: the content of a new data directory, and the options that a shard
// needs (row images in the binary log, GTIDs, TLS). No server outlives the process that started it. The package
// knows nothing about shards, genes and tables of the product, and never changes a server that it did not
// start.
//
// # A server's directory
//
//	data/          the data directory
//	tls/           ca.pem, server-cert.pem, server-key.pem: made once, self-signed
//	tmp/           the server's temporary files
//	server.log     the output of every run of the server
//	server.sock    the socket by which root logs in without a password; only the owner can enter the directory
//	server.pid
//	lock           held by the server and by the process that started it
//
// # Signals
//
// A server stays in its parent's process group, so that a terminal treats them as one job. Still, only the
// parent reacts to a Ctrl-C: both servers block SIGINT and SIGHUP once they are up (tried with MariaDB 10.11
// and MySQL 9.7), and only [Server.Stop] ends them. If the parent dies without stopping its server, the kernel
// kills the server. Both servers recover from that at their next start.
package dbserver
