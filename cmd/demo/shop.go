package demo

import (
	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Names in the sample shop.
const (
	database  = "shop"
	shopUser  = "app"
	dbaUser   = "dba"
	shardUser = "locus"
	adminUser = "locus_admin"
)

// everywhere holds the statements for every shard. They create the sharded and the global tables.
var everywhere = []string{
	"CREATE DATABASE IF NOT EXISTS shop DEFAULT CHARACTER SET utf8mb4",
	`CREATE TABLE IF NOT EXISTS shop.test_order (
		order_id BIGINT NOT NULL,
		order_no BIGINT DEFAULT NULL,
		buyer_uid BIGINT NOT NULL,
		amount DECIMAL(12,2) NOT NULL DEFAULT 0,
		status VARCHAR(16) NOT NULL DEFAULT 'new',
		version BIGINT NOT NULL DEFAULT 0,
		created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
		PRIMARY KEY (order_id), KEY order_no (order_no), KEY buyer_uid (buyer_uid)
	) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE IF NOT EXISTS shop.order_item (
		item_id BIGINT NOT NULL,
		order_id BIGINT NOT NULL,
		product_id BIGINT NOT NULL,
		quantity INT NOT NULL DEFAULT 1,
		price DECIMAL(12,2) NOT NULL DEFAULT 0,
		PRIMARY KEY (item_id), KEY order_id (order_id)
	) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE IF NOT EXISTS shop.product (
		product_id BIGINT NOT NULL,
		name VARCHAR(64) NOT NULL,
		price DECIMAL(12,2) NOT NULL DEFAULT 0,
		PRIMARY KEY (product_id)
	) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
}

// onFirst holds additional statements for the first shard.
var onFirst = []string{
	`CREATE TABLE IF NOT EXISTS shop.setting (
		name VARCHAR(64) NOT NULL,
		value VARCHAR(1024) NOT NULL DEFAULT '',
		PRIMARY KEY (name)
	) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
}

// dba is a user who may CALL the procedures of the schema locus.
var dba = cluster.User{Secret: dbaSecret, Admin: true}

// declare returns the cluster of a first start: shards with gene ranges of equal size, and shards without
// genes.
func declare(shards, spare []router.ShardName, addresses map[router.ShardName][]string) (*cluster.Cluster, error) {
	routes, err := router.Equal(gene.W16, shards)
	if err != nil {
		return nil, err
	}
	table := func(name string) catalog.TableName { return catalog.TableName{Schema: database, Name: name} }
	id := func(column string) *catalog.IDColumn { return &catalog.IDColumn{Column: column, Layout: "int64"} }
	c := &cluster.Cluster{
		Settings: cluster.Settings{GeneBits: gene.W16, Hash: cluster.Hash, CounterGroups: 256, DefaultShard: shards[0]},
		Shards:   map[router.ShardName]cluster.Shard{},
		Tables: map[catalog.TableName]catalog.Declaration{
			table("test_order"): {Kind: catalog.Sharded, Owner: "buyer_uid", ID: id("order_id"), OrderNumber: "order_no", Version: "version"},
			table("order_item"): {Kind: catalog.Sharded, Parent: id("order_id"), ID: id("item_id")},
			table("product"):    {Kind: catalog.Global},
			table("setting"):    {Kind: catalog.Single, Shard: shards[0]},
		},
		Users:  map[string]cluster.User{shopUser: {Secret: userSecret}, dbaUser: dba},
		Routes: routes,
	}
	for _, name := range append(shards[:len(shards):len(shards)], spare...) {
		s := cluster.Shard{User: shardUser, Secret: shardSecret(name), TLS: cluster.TLSOff}
		at := addresses[name]
		s.Address = at[0] // the primary, unless a switchover changes that
		if len(at) > 1 {
			for _, replica := range at[1:] {
				s.Replicas = append(s.Replicas, cluster.Replica{Address: replica})
			}
			s.Servers, s.Failover, s.Admin = at, cluster.FailoverPromote, cluster.Admin{User: adminUser, Secret: adminSecret(name)}
		}
		c.Shards[name] = s
	}
	return c, c.Validate()
}
