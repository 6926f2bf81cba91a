// Package advise proposes how the tables of an ordinary server could be sharded, and reports how its statements would then run.
//
// It owns the workload that logs and performance_schema describe, the search for a proposal, and the report. It never declares anything and never
// changes a server. The planner of the proxies, router/plan, decides how a statement runs: the search and the report have no rules of their own for
// that.
//
// # Evidence
//
// Two columns of different tables have equal values, so that their rows belong together, if
//
//  1. a foreign key refers from one to the other,
//  2. statements join them by =, compare one with a subquery that selects the other, or compare both with the same value, or
//  3. one of them is the only column of a primary key and the other is named after it: user.id and user_id. Two columns of one name, which is
//     such a name, count too. This evidence is used only for columns that the first two don't connect with a key.
//
// The columns that are connected in this way are a class. A class is a candidate if one of its columns is the first of an index, statements compare
// its columns with values or its columns are keys, and it has many different values: it is not one of TINYINT, ENUM or the like, and the workload
// compares it with more than two values.
//
// # Search
//
// A proposal is measured by two shares of the busiest shard: its share of the statements and its share of the rows. Of N shards, a statement
// that runs on one shard by its owner, or on any shard, costs 1/N. A statement on a table that stays on one shard costs 1. So does one that queries
// all shards, because each of them runs it. One that changes all shards, gathers rows or is refused costs more. The workload's weight is the mean of
// its share of the executions and its share of the time.
//
//  1. Every table is on one shard. Each round tries all candidates: the tables that have a column of the class are sharded by it, and the tables
//     that refer to such a table get a copy of the owner in a column. The best candidate is kept if it improves the measure by one percent.
//  2. Tables that stay on one shard become global where that improves the measure: all those of one statement together, and each by itself.
//  3. A sharded table goes back to one shard where that improves the measure.
//
// The search plans the costliest digests only; the report plans all of them.
package advise
