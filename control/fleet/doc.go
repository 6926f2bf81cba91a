// Package fleet communicates with the proxies through etcd: the card that each keeps there while it lives, its
// answers to questions, and requests to stop.
//
// It owns the cards, the questions, the answers and the requests. It never interprets an answer, and never
// connects to a proxy. ADR 10 gives the reasons.
package fleet
