// Package mediawiki installs MediaWiki, as the distribution has it, by its own installer, and uses it by its own functions: users,
// edits, moves, deletions, categories, watchlists, searches, its API, with tables that nobody declared, and with those of users'
// and pages' metadata sharded by the columns that they belong to.
package mediawiki
