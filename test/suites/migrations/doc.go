// Package migrations tests tools that change schemas. Each tool creates, fills, alters and drops a sharded table through the
// proxy. The table's comment declares it, as the tool writes comments.
package migrations
