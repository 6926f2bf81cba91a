// Package node runs cases in JavaScript against clients from npm.
//
// It owns how a script of cases is run, with the packages of package.json beside
// it, and reading what it says. What a case returns is its result, in JSON with
// the types of JavaScript told apart; harness.js beside this file writes it.
package node
