package scenarios

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"

	driver "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Order is a row of the sharded table; the proxy stamps its ID and its number.
type Order struct {
	ID      int64 `gorm:"column:order_id;primaryKey;autoIncrement"`
	Number  int64 `gorm:"column:order_no;->"`
	Buyer   int64 `gorm:"column:buyer_uid"`
	Amount  string
	Status  string `gorm:"default:new"`
	Version int64  `gorm:"->"`
}

func (Order) TableName() string { return "test_order" }

var buyers atomic.Int64

func place(t *testing.T, db *gorm.DB, n int) []Order {
	t.Helper()
	var all []Order
	for range n {
		made := Order{Buyer: 5000 + buyers.Add(1), Amount: "12.50"}
		ok(t, db.Create(&made))
		var whole Order
		ok(t, db.First(&whole, made.ID))
		all = append(all, whole)
	}
	return all
}

func TestShop(t *testing.T) {
	db := dial(t, driver.Config{DSN: os.Getenv("GORM_DSN")}) // to MariaDB, the driver sends INSERT … RETURNING
	t.Run("the stamped ID comes back", func(t *testing.T) {
		o := place(t, db, 1)[0]
		if o.ID < 1<<40 || o.Number == 0 {
			t.Errorf("order %+v", o)
		}
		same(t, o.Amount+o.Status, "12.50new")
	})
	t.Run("read by owner, by number, many", func(t *testing.T) {
		all := place(t, db, 8)
		var ids []int64
		for _, o := range all {
			var byOwner, byNumber Order
			ok(t, db.Where("buyer_uid = ?", o.Buyer).Take(&byOwner))
			ok(t, db.Where(&Order{Number: o.Number}).Take(&byNumber))
			same(t, []int64{byOwner.ID, byNumber.ID}, []int64{o.ID, o.ID})
			ids = append(ids, o.ID)
		}
		var found []Order
		ok(t, db.Find(&found, ids))
		same(t, len(found), 8)
	})
	t.Run("update and delete", func(t *testing.T) {
		o := place(t, db, 1)[0]
		same(t, db.Model(&o).Update("status", "paid").RowsAffected, 1)
		same(t, db.Model(&Order{}).Where("buyer_uid = ?", o.Buyer).Update("amount", gorm.Expr("amount + ?", 1)).RowsAffected, 1)
		var now Order
		ok(t, db.First(&now, o.ID))
		same(t, now.Status+now.Amount, "paid13.50")
		same(t, db.Delete(&now).RowsAffected, 1)
		same(t, errors.Is(db.First(&now, o.ID).Error, gorm.ErrRecordNotFound), true)
	})
	t.Run("a transaction of one buyer", func(t *testing.T) {
		o := place(t, db, 1)[0]
		back := errors.New("back")
		err := db.Transaction(func(tx *gorm.DB) error {
			ok(t, tx.Model(&o).Update("status", "gone"))
			return back
		})
		same(t, err, back)
		err = db.Transaction(func(tx *gorm.DB) error {
			var locked Order
			ok(t, tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&locked, o.ID))
			same(t, locked.Status, "new")
			return tx.Model(&Order{}).Where("buyer_uid = ?", o.Buyer).Update("status", "paid").Error
		})
		same(t, err, nil)
		var now Order
		ok(t, db.First(&now, o.ID))
		same(t, now.Status, "paid")
	})
	t.Run("count, sum and order over all shards", func(t *testing.T) {
		var list []int64
		for _, o := range place(t, db, 10) {
			list = append(list, o.Buyer)
		}
		in := func() *gorm.DB { return db.Model(&Order{}).Where("buyer_uid IN ?", list) }
		var n int64
		ok(t, in().Count(&n))
		same(t, n, 10)
		var sum string
		ok(t, in().Select("SUM(amount)").Scan(&sum))
		same(t, sum, "125.00")
		var page []int64
		ok(t, in().Order("buyer_uid DESC").Limit(3).Offset(2).Pluck("buyer_uid", &page))
		same(t, page, []int64{list[7], list[6], list[5]})
	})
	t.Run("several rows in one insert", func(t *testing.T) {
		buyer := 5000 + buyers.Add(1)
		ok(t, db.Create([]Order{{Buyer: buyer, Amount: "1"}, {Buyer: buyer, Amount: "2"}}))
		var n int64
		ok(t, db.Model(&Order{}).Where("buyer_uid = ?", buyer).Count(&n))
		same(t, n, 2)
	})
}
