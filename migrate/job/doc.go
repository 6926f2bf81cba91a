// Package job defines the record of a job as one document in etcd: who requested what, the progress, and the
// journal.
//
// It owns the document and its rules. It never talks to etcd, never decides what a job does next (package phase
// does), and contains no secret.
package job
