// Package switchover makes another server of a shard its primary, while clients go on.
//
// It owns the order of that, what is looked for before, what each line does to the
// servers, and what mends a switchover that was broken off. It never decides who is the
// primary while one is away, and never talks to a proxy: the shard's document in etcd
// tells them, and they tell in etcd what they obey.
package switchover
