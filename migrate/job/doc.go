// Package job is the record of a move: who wants what, how far it is, and its
// journal, as one document in etcd.
//
// It owns the document and its rules. It never talks to etcd, never decides what
// a job does next (package phase does), and holds no secret.
package job
