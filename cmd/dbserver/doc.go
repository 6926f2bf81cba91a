// Package dbserver finds the database servers that are installed on this
// machine and runs them as child processes, each in a directory of its own, for
// the demo and for tests: MariaDB, and MySQL from the PATH or from a Debian tree
// that is run through its own dynamic loader.
//
// It owns those directories and the processes: what is in a new data directory,
// the options that make a server fit to be a shard (row images in the binary
// log, GTIDs, TLS), and that no server outlives the process that started it. It
// never knows what a shard, a gene or a table of the product is, and it never
// touches a server that it did not start.
//
// # A server's directory
//
//	data/          the data directory
//	tls/           ca.pem, server-cert.pem, server-key.pem: made once, self-signed
//	tmp/           the server's temporary files
//	server.log     what every run of the server has said
//	server.sock    root's door, without password; the directory is the owner's alone
//	server.pid
//	lock           held by the server and by the process that started it
//
// # Signals
//
// A server stays in its parent's process group, so that a terminal sees one
// job, and yet a Ctrl-C is the parent's to handle: both servers block SIGINT
// and SIGHUP once they are up (MariaDB 10.11 and MySQL 9.7 were tried), and
// only [Server.Stop] ends them. A server whose parent dies without stopping it
// is killed by the kernel; both recover from that at their next start.
package dbserver
