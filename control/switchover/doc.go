// Package switchover makes another server of a shard its primary, while clients continue.
//
// It owns the order of the steps, the checks before them, the changes of each step to the servers, and the
// repair of an interrupted switchover. It never decides which server is to replace a lost primary. It never
// talks to a proxy: proxies read the shard's document in etcd, and publish in etcd which version they obey.
package switchover
