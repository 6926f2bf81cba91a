// Package ghost installs Ghost, as npm has it, by its own installer, and uses it by its own programming interfaces: its owner, posts,
// pages, tags, members, comments, searches, its front pages, with tables that nobody declared. Its tables are not to be sharded, and why is told.
package ghost
