//go:build long

package tpch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// The numbers of rows: a hundredth of the benchmark's initial numbers.
const (
	suppliers = 100
	parts     = 2000
	customers = 1500
	orders    = 15000
)

var (
	regions = strings.Fields("AFRICA AMERICA ASIA EUROPE MIDDLE_EAST")
	// nations, each with its region.
	nations = []struct {
		name   string
		region int
	}{
		{"ALGERIA", 0},
		{"ARGENTINA", 1},
		{"BRAZIL", 1},
		{"CANADA", 1},
		{"EGYPT", 4},
		{"ETHIOPIA", 0},
		{"FRANCE", 3},
		{"GERMANY", 3},
		{"INDIA", 2},
		{"INDONESIA", 2},
		{"IRAN", 4},
		{"IRAQ", 4},
		{"JAPAN", 2},
		{"JORDAN", 4},
		{"KENYA", 0},
		{"MOROCCO", 0},
		{"MOZAMBIQUE", 0},
		{"PERU", 1},
		{"CHINA", 2},
		{"ROMANIA", 3},
		{"SAUDI ARABIA", 4},
		{"VIETNAM", 2},
		{"RUSSIA", 3},
		{"UNITED KINGDOM", 3},
		{"UNITED STATES", 1},
	}
	colours    = strings.Fields("almond azure black blue brown coral cream cyan dark drab forest frosted green grey honeydew ivory khaki lace lemon linen")
	sizes      = strings.Fields("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO")
	finishes   = strings.Fields("ANODIZED BURNISHED PLATED POLISHED BRUSHED")
	metals     = strings.Fields("TIN NICKEL BRASS STEEL COPPER")
	boxSizes   = strings.Fields("SM LG MED JUMBO WRAP")
	boxes      = strings.Fields("CASE BOX BAG JAR PKG PACK CAN DRUM")
	segments   = strings.Fields("AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD")
	priorities = strings.Split("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW", ",")
	instructs  = strings.Split("DELIVER IN PERSON,COLLECT COD,NONE,TAKE BACK RETURN", ",")
	modes      = strings.Split("REG AIR,AIR,RAIL,SHIP,TRUCK,MAIL,FOB", ",")
	remarks    = strings.Fields("carefully special quickly pending requests furiously Customer final deposits Complaints ironic packages")

	firstDay = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	current  = time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC)
)

const days = 2406 - 151 // of orders

// rowsOnce returns the rows of each table, as they are written in an INSERT.
var rowsOnce = sync.OnceValue(func() map[string][]string {
	g := generator{rand.New(rand.NewPCG(19, 92)), map[string][]string{}}
	for i, name := range regions {
		g.row("region", i, strings.ReplaceAll(name, "_", " "), g.remark())
	}
	for i, n := range nations {
		g.row("nation", i, n.name, n.region, g.remark())
	}
	for key := 1; key <= suppliers; key++ {
		nation := g.IntN(len(nations))
		g.row("supplier", key, fmt.Sprintf("Supplier#%09d", key), g.address(), nation, g.phone(nation), g.cents(-99999, 999999), g.remark())
	}
	for key := 1; key <= parts; key++ {
		g.part(key)
	}
	for key := 1; key <= customers; key++ {
		nation := g.IntN(len(nations))
		g.row("customer", key, fmt.Sprintf("Customer#%09d", key), g.address(), nation, g.phone(nation), g.cents(-99999, 999999), g.pick(segments), g.remark())
	}
	for n := range orders {
		g.order(n/8*32 + n%8 + 1) // 8 of 32 keys exist
	}
	return g.rows
})

type generator struct {
	*rand.Rand
	rows map[string][]string
}

// row adds one: texts are quoted, money is in cents.
func (g generator) row(table string, values ...any) {
	list := make([]string, len(values))
	for i, value := range values {
		switch value := value.(type) {
		case string:
			list[i] = "'" + value + "'"
		case money:
			list[i] = value.String()
		case time.Time:
			list[i] = value.Format("'2006-01-02'")
		default:
			list[i] = fmt.Sprint(value)
		}
	}
	g.rows[table] = append(g.rows[table], "("+strings.Join(list, ", ")+")")
}

// money is cents.
type money int64

func (m money) String() string {
	if m < 0 {
		return "-" + (-m).String()
	}
	return fmt.Sprintf("%d.%02d", int64(m)/100, int64(m)%100)
}

func (g generator) between(low, high int) int { return low + g.IntN(high-low+1) }
func (g generator) cents(low, high int) money { return money(g.between(low, high)) }
func (g generator) pick(list []string) string { return list[g.IntN(len(list))] }
func (g generator) address() string {
	return fmt.Sprintf("%d %s street", g.between(1, 999), g.pick(colours))
}

func (g generator) after(d time.Time, low, high int) time.Time {
	return d.AddDate(0, 0, g.between(low, high))
}

func (g generator) remark() string {
	return strings.Join([]string{g.pick(remarks), g.pick(remarks), g.pick(remarks), g.pick(remarks)}, " ")
}

func (g generator) phone(nation int) string {
	return fmt.Sprintf("%d-%03d-%03d-%04d", nation+10, g.between(100, 999), g.between(100, 999), g.between(1000, 9999))
}

func price(part int) money { return money(90000 + part/10%20001 + 100*(part%1000)) }

// supplierOf is the n-th of the four that have a part.
func supplierOf(part, n int) int { return (part+n*(suppliers/4+(part-1)/suppliers))%suppliers + 1 }

func (g generator) part(key int) {
	maker := g.between(1, 5)
	names := make([]string, 5)
	for i := range names {
		names[i] = g.pick(colours)
	}
	g.row("part", key, strings.Join(names, " "), fmt.Sprintf("Manufacturer#%d", maker), fmt.Sprintf("Brand#%d%d", maker, g.between(1, 5)),
		g.pick(sizes)+" "+g.pick(finishes)+" "+g.pick(metals), g.between(1, 50), g.pick(boxSizes)+" "+g.pick(boxes), price(key), g.pick(remarks)+" "+g.pick(remarks))
	for n := range 4 {
		g.row("partsupp", key, supplierOf(key, n), g.between(1, 9999), g.cents(100, 100000), g.remark())
	}
}

// order adds an order and its lines.
func (g generator) order(key int) {
	customer := g.between(1, customers)
	for customer%3 == 0 { // a third of them have none
		customer = g.between(1, customers)
	}
	date := firstDay.AddDate(0, 0, g.IntN(days))
	lines, open, total := g.between(1, 7), 0, money(0)
	for line := 1; line <= lines; line++ {
		part, quantity := g.between(1, parts), g.between(1, 50)
		extended, discount, tax := price(part)*money(quantity), g.cents(0, 10), g.cents(0, 8)
		shipped := g.after(date, 1, 121)
		received := g.after(shipped, 1, 30)
		flag, status := "N", "F"
		if !received.After(current) {
			flag = g.pick([]string{"R", "A"})
		}
		if shipped.After(current) {
			status = "O"
			open++
		}
		total += extended * (100 + tax) * (100 - discount) / 10000
		g.row("lineitem", key, part, supplierOf(part, g.IntN(4)), line, quantity, extended, discount, tax, flag, status, shipped, g.after(date, 30, 90), received,
			g.pick(instructs), g.pick(modes), g.remark())
	}
	status := "P"
	switch open {
	case 0:
		status = "F"
	case lines:
		status = "O"
	}
	g.row("orders", key, customer, status, total, date, g.pick(priorities), fmt.Sprintf("Clerk#%09d", g.between(1, 1000)), 0, g.remark())
}
