//go:build servers && !long

package scale

const tagged = "short"
