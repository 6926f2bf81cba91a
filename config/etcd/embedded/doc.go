// Package embedded runs one etcd server inside the process, for the demo and for a cluster on a single machine.
//
// It owns the server's data directory, its client port on the loopback address and its log file. It opens no port for
// peers, since there are none and nobody could be prevented from joining. It never serves other machines. A real
// cluster runs its own etcd.
package embedded
