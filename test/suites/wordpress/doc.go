// Package wordpress installs WordPress, as the distribution has it, by its own installer, and uses it by its own functions: users,
// posts, comments, terms, searches, its REST interface and its pages, with tables that nobody declared, and with those of users,
// posts and comments sharded by the columns that they belong to.
package wordpress
