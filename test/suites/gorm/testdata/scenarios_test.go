// Package scenarios are uses of GORM with its MySQL driver.
package scenarios

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	driver "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

func open(t *testing.T, options ...gorm.Option) *gorm.DB {
	t.Helper()
	return dial(t, driver.Config{DSN: os.Getenv("GORM_DSN")}, options...)
}

func dial(t *testing.T, config driver.Config, options ...gorm.Option) *gorm.DB {
	t.Helper()
	options = append([]gorm.Option{&gorm.Config{Logger: logger.Discard, TranslateError: true}}, options...)
	db, err := gorm.Open(driver.New(config), options...)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return db
}

func ok(t *testing.T, db *gorm.DB) {
	t.Helper()
	if db.Error != nil {
		t.Fatal(db.Error)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Person is in a table of each test's own.
type Person struct {
	ID   uint
	Name string `gorm:"size:40;not null"`
	Age  *int
	Mail *string `gorm:"uniqueIndex;size:100"`
}

func people(t *testing.T, table string) (*gorm.DB, func() *gorm.DB) {
	t.Helper()
	db := open(t)
	in := func() *gorm.DB { return db.Table(table) }
	if err := in().AutoMigrate(&Person{}); err != nil {
		t.Fatal(err)
	}
	rows := []Person{{Name: "Ann", Age: new(30), Mail: new("a@x")}, {Name: "Bob", Age: new(25), Mail: new("b@x")}, {Name: "Cid", Age: new(40), Mail: new("c@x")}, {Name: "Dot"}}
	ok(t, in().Create(&rows))
	same(t, []uint{rows[0].ID, rows[3].ID}, []uint{1, 4})
	return db, in
}

func names(t *testing.T, db *gorm.DB) (out []string) {
	t.Helper()
	ok(t, db.Order("id").Pluck("name", &out))
	return out
}

func TestFind(t *testing.T) {
	_, in := people(t, "find_people")
	var p Person
	ok(t, in().First(&p))
	same(t, p.Name, "Ann")
	p = Person{}
	ok(t, in().Last(&p))
	same(t, p.Name, "Dot")
	p = Person{}
	ok(t, in().Where("name = ?", "Bob").Take(&p))
	same(t, *p.Age, 25)
	same(t, errors.Is(in().Take(&Person{}, 99).Error, gorm.ErrRecordNotFound), true)
	var n int64
	ok(t, in().Count(&n))
	same(t, n, 4)
}

func TestWhere(t *testing.T) {
	_, in := people(t, "where_people")
	for want, got := range map[string]*gorm.DB{
		"[Ann Cid]":     in().Where("age > ?", 25),
		"[Ann Dot]":     in().Where("name IN ?", []string{"Ann", "Dot"}),
		"[Dot]":         in().Where("age IS NULL"),
		"[Bob Dot]":     in().Where("name LIKE ?", "%o%"),
		"[Bob Cid]":     in().Where("age = 25").Or("name = ?", "Cid"),
		"[Bob Cid Dot]": in().Not("name = ?", "Ann"),
		"[Ann Bob]":     in().Where("age BETWEEN @low AND @high", sql.Named("low", 20), sql.Named("high", 30)),
		"[Cid]":         in().Where(map[string]any{"name": "Cid", "age": 40}),
		"[Bob]":         in().Where(&Person{Name: "Bob"}),
		"[]":            in().Where("name = ?", "it's"),
		"[Ann]":         in().Where("age = (?)", in().Select("MAX(age)").Where("age < 40")),
	} {
		same(t, names(t, got), want)
	}
}

func TestSelectGroupHaving(t *testing.T) {
	_, in := people(t, "group_people")
	var rows []map[string]any
	ok(t, in().Select("age IS NULL AS without, COUNT(*) AS n").Group("without").Having("n > ?", 0).Order("without").Find(&rows))
	same(t, rows, "[map[n:3 without:0] map[n:1 without:1]]")
	var sum struct{ Total, Most int }
	ok(t, in().Select("SUM(age) AS total, MAX(age) AS most").Scan(&sum))
	same(t, sum, "{95 40}")
	var ages []int
	ok(t, in().Distinct().Where("age IS NOT NULL").Order("age DESC").Limit(2).Offset(1).Pluck("age", &ages))
	same(t, ages, "[30 25]")
}

func TestUpdate(t *testing.T) {
	_, in := people(t, "update_people")
	same(t, in().Where("age < ?", 35).Update("age", 1).RowsAffected, 2)
	same(t, in().Where("id = 1").Updates(map[string]any{"name": "Anna", "age": gorm.Expr("age + ?", 4)}).RowsAffected, 1)
	same(t, in().Where("id = 2").UpdateColumn("age", nil).RowsAffected, 1)
	var p Person
	ok(t, in().Take(&p, 1))
	same(t, fmt.Sprint(p.Name, *p.Age), "Anna5")
	p.Name = "Annie"
	ok(t, in().Save(&p))
	same(t, names(t, in()), "[Annie Bob Cid Dot]")
	same(t, errors.Is(in().Update("age", 1).Error, gorm.ErrMissingWhereClause), true)
}

func TestDelete(t *testing.T) {
	_, in := people(t, "delete_people")
	same(t, in().Where("age IS NULL").Delete(&Person{}).RowsAffected, 1)
	same(t, in().Delete(&Person{}, []int{1, 2}).RowsAffected, 2)
	same(t, names(t, in()), "[Cid]")
}

func TestUpsert(t *testing.T) {
	_, in := people(t, "upsert_people")
	ok(t, in().Clauses(clause.OnConflict{DoNothing: true}).Create(&Person{Name: "no", Mail: new("a@x")}))
	ok(t, in().Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "mail"}}, DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&Person{Name: "Anna", Mail: new("a@x")}))
	ok(t, in().Clauses(clause.OnConflict{UpdateAll: true}).Create(&Person{ID: 2, Name: "Rob"}))
	same(t, names(t, in()), "[Anna Rob Cid Dot]")
}

func TestFirstOr(t *testing.T) {
	_, in := people(t, "or_people")
	var a, b Person
	ok(t, in().Where(Person{Name: "Ann"}).FirstOrCreate(&a))
	ok(t, in().Where(Person{Name: "Eve"}).Attrs(Person{Age: new(1)}).FirstOrCreate(&b))
	same(t, fmt.Sprint(a.ID, *b.Age), "1 1")
}

func TestBatches(t *testing.T) {
	_, in := people(t, "batch_people")
	var many []Person
	for i := range 500 {
		many = append(many, Person{Name: fmt.Sprint("n", i), Age: &i})
	}
	ok(t, in().CreateInBatches(&many, 120))
	same(t, fmt.Sprint(many[0].ID, " ", many[499].ID), "5 504")
	seen := 0
	var some []Person
	ok(t, in().FindInBatches(&some, 100, func(tx *gorm.DB, batch int) error {
		seen += len(some)
		return nil
	}))
	same(t, seen, 504)
}

func TestRows(t *testing.T) {
	db, in := people(t, "rows_people")
	rows, err := in().Order("id").Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var p Person
		if err := db.ScanRows(rows, &p); err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Name)
	}
	same(t, got, "[Ann Bob Cid Dot]")
}

func TestRaw(t *testing.T) {
	db, _ := people(t, "raw_people")
	var n int
	ok(t, db.Raw("SELECT COUNT(*) FROM raw_people WHERE age > @a", map[string]any{"a": 25}).Scan(&n))
	same(t, n, 2)
	same(t, db.Exec("UPDATE raw_people SET age = ? WHERE name IN ?", 7, []string{"Ann", "Bob"}).RowsAffected, 2)
	ok(t, db.Exec("CREATE PROCEDURE gorm_proc (n INT) SELECT n + 1 AS m"))
	ok(t, db.Raw("CALL gorm_proc(?)", 4).Scan(&n))
	same(t, n, 5)
}

func TestTransaction(t *testing.T) {
	db, in := people(t, "tx_people")
	back := errors.New("back")
	same(t, db.Transaction(func(tx *gorm.DB) error {
		ok(t, tx.Exec("DELETE FROM tx_people"))
		return back
	}), back)
	same(t, db.Transaction(func(tx *gorm.DB) error {
		ok(t, tx.Exec("DELETE FROM tx_people WHERE id = 1"))
		_ = tx.Transaction(func(inner *gorm.DB) error {
			ok(t, inner.Exec("DELETE FROM tx_people WHERE id = 2"))
			return back
		})
		return tx.Transaction(func(inner *gorm.DB) error { return inner.Exec("DELETE FROM tx_people WHERE id = 3").Error })
	}), nil)
	same(t, names(t, in()), "[Bob Dot]")
}

func TestSavepoints(t *testing.T) {
	db, in := people(t, "save_people")
	tx := db.Begin()
	ok(t, tx.Exec("DELETE FROM save_people WHERE id = 1"))
	ok(t, tx.SavePoint("one"))
	ok(t, tx.Exec("DELETE FROM save_people"))
	ok(t, tx.RollbackTo("one"))
	ok(t, tx.Commit())
	same(t, names(t, in()), "[Bob Cid Dot]")
}

func TestIsolation(t *testing.T) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead} {
		t.Run(level.String(), func(t *testing.T) {
			db, in := people(t, fmt.Sprintf("iso_%d", level))
			tx := db.Begin(&sql.TxOptions{Isolation: level})
			var before, after int64
			ok(t, tx.Table(fmt.Sprintf("iso_%d", level)).Count(&before))
			ok(t, in().Create(&Person{Name: "other"}))
			ok(t, tx.Table(fmt.Sprintf("iso_%d", level)).Count(&after))
			ok(t, tx.Rollback())
			want := int64(5)
			if level == sql.LevelRepeatableRead {
				want = 4
			}
			same(t, after, want)
		})
	}
}

func TestReadOnlyTransaction(t *testing.T) {
	db, _ := people(t, "ro_people")
	tx := db.Begin(&sql.TxOptions{ReadOnly: true})
	if tx.Exec("DELETE FROM ro_people").Error == nil {
		t.Error("a read-only transaction deletes")
	}
	ok(t, tx.Rollback())
}

func TestLocks(t *testing.T) {
	db, _ := people(t, "lock_people")
	a, b := db.Begin(), db.Begin()
	var p Person
	ok(t, a.Table("lock_people").Clauses(clause.Locking{Strength: "UPDATE"}).Take(&p, 1))
	var ids []int
	ok(t, b.Table("lock_people").Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).Order("id").Pluck("id", &ids))
	same(t, ids, "[2 3 4]")
	if b.Table("lock_people").Clauses(clause.Locking{Strength: "UPDATE", Options: "NOWAIT"}).Take(&Person{}, 1).Error == nil {
		t.Error("a locked row is given")
	}
	ok(t, b.Rollback())
	ok(t, a.Commit())
}

// Types has a field for each type that GORM's driver supports.
type Types struct {
	ID    uint64
	Big   uint64
	Small int8
	Price float64 `gorm:"type:decimal(20,6)"`
	Real  float32
	Flag  bool
	At    time.Time `gorm:"precision:6"`
	Day   time.Time `gorm:"type:date"`
	Text  string    `gorm:"type:longtext"`
	Bytes []byte
	Doc   json.RawMessage `gorm:"type:json"`
	Kind  string          `gorm:"type:enum('a','b');default:a"`
	Maybe sql.NullString
	Parts []string `gorm:"serializer:json"`
}

func TestTypes(t *testing.T) {
	db := open(t)
	same(t, db.AutoMigrate(&Types{}), nil)
	at := time.Date(2024, 2, 29, 12, 34, 56, 789123000, time.UTC)
	in := Types{Big: 1<<63 + 5, Small: -5, Price: 1.5, Real: 0.5, Flag: true, At: at, Day: at.Truncate(24 * time.Hour), Text: "ü😀", Bytes: []byte{0, 255}, Doc: json.RawMessage(`{"a": 1}`), Kind: "b", Maybe: sql.NullString{String: "m", Valid: true}, Parts: []string{"p", "q"}}
	ok(t, db.Create(&in))
	var out Types
	ok(t, db.Take(&out, in.ID))
	same(t, out, in)
	ok(t, db.Create(&Types{At: at, Day: at, Doc: json.RawMessage("null")}))
	var second Types
	ok(t, db.Last(&second))
	same(t, second.Kind, "a")
}

type Author struct {
	gorm.Model
	Name    string
	Profile Profile
	Books   []Book
}

type Profile struct {
	ID, AuthorID uint
	Bio          string
}

type Book struct {
	ID, AuthorID uint
	Title        string
	Tags         []Tag `gorm:"many2many:book_tags"`
}

type Tag struct {
	ID   uint
	Word string
}

func TestAssociations(t *testing.T) {
	db := open(t)
	same(t, db.AutoMigrate(&Author{}, &Profile{}, &Tag{}, &Book{}), nil)
	ann := Author{Name: "Ann", Profile: Profile{Bio: "of Ann"}, Books: []Book{{Title: "One", Tags: []Tag{{Word: "red"}, {Word: "blue"}}}, {Title: "Two"}}}
	ok(t, db.Create(&ann))
	ok(t, db.Create(&Author{Name: "Bob", Books: []Book{{Title: "Three"}}}))
	t.Run("preload", func(t *testing.T) {
		var all []Author
		ok(t, db.Preload("Profile").Preload("Books", func(tx *gorm.DB) *gorm.DB { return tx.Order("books.id") }).Preload("Books.Tags").Order("id").Find(&all))
		same(t, fmt.Sprint(all[0].Profile.Bio, len(all[0].Books), len(all[0].Books[0].Tags), all[1].Books[0].Title), "of Ann2 2Three")
	})
	t.Run("joins", func(t *testing.T) {
		var one Author
		ok(t, db.Joins("Profile").Take(&one, ann.ID))
		same(t, one.Profile.Bio, "of Ann")
		var titles []string
		ok(t, db.Model(&Author{}).Joins("JOIN books ON books.author_id = authors.id").Where("authors.name = ?", "Ann").Order("books.id").Pluck("books.title", &titles))
		same(t, titles, "[One Two]")
	})
	t.Run("association mode", func(t *testing.T) {
		books := func() *gorm.Association { return db.Model(&ann).Association("Books") }
		same(t, books().Count(), 2)
		same(t, books().Append(&Book{Title: "Four"}), nil)
		same(t, books().Count(), 3)
		tags := func() *gorm.Association { return db.Model(&ann.Books[0]).Association("Tags") }
		same(t, tags().Replace(&Tag{Word: "green"}), nil)
		same(t, tags().Count(), 1)
		same(t, tags().Clear(), nil)
		same(t, tags().Count(), 0)
	})
	t.Run("soft deletion", func(t *testing.T) {
		same(t, db.Where("name = ?", "Bob").Delete(&Author{}).RowsAffected, 1)
		var n, all int64
		ok(t, db.Model(&Author{}).Count(&n))
		ok(t, db.Unscoped().Model(&Author{}).Count(&all))
		same(t, []int64{n, all}, "[1 2]")
		same(t, db.Unscoped().Where("name = ?", "Bob").Delete(&Author{}).Error != nil, true) // a book holds on
	})
}

// Changing is the first definition of a table, and Changed the later one.
type Changing struct {
	ID   uint
	Name string `gorm:"size:10;index:by_name"`
}

type Changed struct {
	ID    uint
	Name  string `gorm:"size:50;index:by_name"`
	Extra int    `gorm:"default:5;comment:more"`
	More  int    `gorm:"-:migration"`
}

func (Changed) TableName() string { return "changings" }

func TestMigrator(t *testing.T) {
	db := open(t)
	m := db.Migrator()
	same(t, db.AutoMigrate(&Changing{}), nil)
	same(t, db.AutoMigrate(&Changed{}), nil)
	same(t, []bool{m.HasTable("changings"), m.HasColumn("changings", "extra"), m.HasIndex("changings", "by_name"), m.HasTable("none")}, "[true true true false]")
	columns, err := m.ColumnTypes("changings")
	if err != nil {
		t.Fatal(err)
	}
	var about []string
	for _, c := range columns {
		kind, _ := c.ColumnType()
		null, _ := c.Nullable()
		about = append(about, fmt.Sprint(c.Name(), " ", kind, " ", null))
	}
	t.Log(about)
	same(t, len(about), 3)
	same(t, m.RenameColumn(&Changed{}, "extra", "more"), nil)
	same(t, m.DropIndex(&Changed{}, "by_name"), nil)
	same(t, m.DropColumn(&Changed{}, "more"), nil)
	same(t, m.RenameTable("changings", "renamed"), nil)
	tables, err := m.GetTables()
	same(t, err, nil)
	found := false
	for _, table := range tables {
		found = found || table == "renamed"
	}
	same(t, found, true)
	same(t, m.CreateView("seen", gorm.ViewOption{Query: db.Table("renamed")}), nil)
	same(t, m.DropView("seen"), nil)
	same(t, m.DropTable("renamed"), nil)
	same(t, m.CurrentDatabase() != "", true)
}

func TestMigrateTwiceChangesNothing(t *testing.T) {
	db := open(t)
	same(t, db.Table("twice").AutoMigrate(&Types{}), nil)
	dry := db.Session(&gorm.Session{DryRun: false, Logger: logger.Discard})
	same(t, dry.Table("twice").AutoMigrate(&Types{}), nil)
}

func TestConstraints(t *testing.T) {
	db := open(t)
	type Checked struct {
		ID  uint
		Age int `gorm:"check:positive,age > 0"`
	}
	same(t, db.AutoMigrate(&Checked{}), nil)
	same(t, db.Migrator().HasConstraint(&Checked{}, "positive"), true)
	if db.Create(&Checked{Age: -1}).Error == nil {
		t.Error("the check does not hold")
	}
	same(t, db.Migrator().DropConstraint(&Checked{}, "positive"), nil)
	ok(t, db.Create(&Checked{Age: -1}))
}

func TestErrors(t *testing.T) {
	db, in := people(t, "error_people")
	same(t, errors.Is(in().Create(&Person{Name: "x", Mail: new("a@x")}).Error, gorm.ErrDuplicatedKey), true)
	for _, query := range []string{"SELECT * FROM no_such_table", "SELEC", "SELECT nothing"} {
		if db.Exec(query).Error == nil {
			t.Errorf("%s gives no error", query)
		}
	}
}

type hooked struct {
	ID   uint
	Name string
	log  []string
}

func (h *hooked) BeforeCreate(*gorm.DB) error { h.log = append(h.log, "before"); return nil }
func (h *hooked) AfterCreate(*gorm.DB) error  { h.log = append(h.log, "after"); return nil }
func (h *hooked) AfterFind(*gorm.DB) error    { h.log = append(h.log, "found"); return nil }

func TestHooks(t *testing.T) {
	db := open(t)
	same(t, db.AutoMigrate(&hooked{}), nil)
	h := hooked{Name: "x"}
	ok(t, db.Create(&h))
	ok(t, db.Take(&h))
	same(t, h.log, "[before after found]")
}

func TestScopes(t *testing.T) {
	_, in := people(t, "scope_people")
	old := func(db *gorm.DB) *gorm.DB { return db.Where("age > 26") }
	same(t, names(t, in().Scopes(old)), "[Ann Cid]")
}

func TestPreparedMode(t *testing.T) {
	db := open(t, &gorm.Config{PrepareStmt: true, Logger: logger.Discard})
	same(t, db.Table("prepared_people").AutoMigrate(&Person{}), nil)
	for i := range 20 {
		ok(t, db.Table("prepared_people").Create(&Person{Name: fmt.Sprint(i)}))
		var p Person
		ok(t, db.Table("prepared_people").Where("name = ?", fmt.Sprint(i)).Take(&p))
		same(t, p.ID, i+1)
	}
}

func TestInterpolated(t *testing.T) {
	db := dial(t, driver.Config{DSN: os.Getenv("GORM_DSN") + "&interpolateParams=true"})
	var got string
	ok(t, db.Raw("SELECT CONCAT(?, ?)", "it's \\ ", 5).Scan(&got))
	same(t, got, `it's \ 5`)
}

func TestSeveralStatements(t *testing.T) {
	db := dial(t, driver.Config{DSN: os.Getenv("GORM_DSN") + "&multiStatements=true"})
	ok(t, db.Exec("CREATE TABLE several (id INT); INSERT INTO several VALUES (1), (2)"))
	var n int
	ok(t, db.Raw("SELECT COUNT(*) FROM several").Scan(&n))
	same(t, n, 2)
}

func TestSessionSettings(t *testing.T) {
	db := dial(t, driver.Config{DSN: os.Getenv("GORM_DSN") + "&time_zone=%27%2B03%3A00%27&sql_mode=ANSI_QUOTES"})
	var zone, quoted string
	ok(t, db.Raw("SELECT @@time_zone").Scan(&zone))
	ok(t, db.Raw(`SELECT "x" FROM (SELECT 'v' AS "x") t`).Scan(&quoted))
	same(t, zone+quoted, "+03:00v")
}

func TestCancelled(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := db.WithContext(ctx).Exec("SELECT SLEEP(5)").Error; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	var n int
	ok(t, db.Raw("SELECT 1").Scan(&n))
}

func TestConnection(t *testing.T) {
	db := open(t)
	same(t, db.Connection(func(tx *gorm.DB) error {
		ok(t, tx.Exec("SET @own = 7"))
		var n int
		ok(t, tx.Raw("SELECT @own").Scan(&n))
		same(t, n, 7)
		return nil
	}), nil)
}
