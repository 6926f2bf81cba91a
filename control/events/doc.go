// Package events keeps the timeline of a cluster in etcd: what happened, to what, by whom, when, and how long it took.
//
// It owns the keys, their order, the limits of what is kept, and the queue of a process. It never decides what is worth an
// event: the packages that cause an effect do. It never makes an operation wait or fail.
//
// There are two ways to write an event:
//
//   - [Add] puts it into the transaction that writes its effect to etcd. The event exists if and only if the effect does.
//   - [Recorder] writes events whose effect is not in etcd. Its queue is bounded, and it drops and counts events that don't fit.
package events
