// Package embedded runs one etcd server inside the process, for the demo and for
// a cluster on a single machine.
//
// It owns the server's data directory, its client port on the loopback address
// and its log file. It opens no port for peers, since there are none and nobody
// could be kept from joining, and it never serves beyond this machine: a real
// cluster runs etcd of its own.
package embedded
