// Package fleet is the proxies as etcd knows them: the card that each has there
// while it lives, what they answer when they are asked what they have counted, and
// the orders to stop.
//
// It owns the cards, the questions, the answers and the orders. It never says what an answer
// means, and never talks to a proxy but by etcd: why, says ADR 10.
package fleet
