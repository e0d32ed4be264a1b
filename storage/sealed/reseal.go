package sealed

import (
	"context"

	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// batch is the number of values that one transaction seals anew.
const batch = 200

// Count is how many values of a column there are, and how many of them were sealed anew.
// Unreadable has the ids of those that no known key opens.
type Count struct {
	Column     string   `json:"column"`
	Values     int64    `json:"values"`
	Resealed   int64    `json:"resealed"`
	Unreadable []string `json:"unreadable"`
}

// numberRow is the result of a count.
type numberRow struct {
	N int64 `db:"n"`
}

// Total returns the number of sealed values.
func Total(ctx context.Context, db *engine.DB) (int64, error) {
	var total int64
	for _, c := range columns {
		row, err := engine.One[numberRow](ctx, db, "count", c.count)
		if err != nil {
			return 0, err
		}
		total += row.N
	}
	return total, nil
}

// Reseal seals all values that another key sealed under the key that seals new values; see
// [signing.MasterKey.Reseal]. It works in batches of 200, each in a transaction, while servers
// read and write. It may be interrupted and repeated. progress gets the number of values that
// were looked at.
//
// It leaves a value that no known key opens as it is, and names its row in the result.
func Reseal(ctx context.Context, db *engine.DB, master signing.MasterKey, progress func(done int64)) ([]Count, error) {
	var done int64
	counts := make([]Count, 0, len(columns))
	for _, c := range columns {
		count := Count{Column: c.String(), Unreadable: []string{}}
		var at place
		for more := true; more; {
			var rows []valueRow
			var changed int64
			var unreadable []string
			err := db.InTx(ctx, func(ctx context.Context) (err error) {
				rows, changed, unreadable, err = c.resealBatch(ctx, db, master, at)
				return err
			})
			if err != nil {
				return counts, err
			}
			if more = len(rows) == batch; len(rows) > 0 {
				at = place{rows[len(rows)-1].First, rows[len(rows)-1].Second}
			}
			done, count.Values, count.Resealed = done+int64(len(rows)), count.Values+int64(len(rows)), count.Resealed+changed
			count.Unreadable = append(count.Unreadable, unreadable...)
			progress(done)
		}
		counts = append(counts, count)
	}
	return counts, nil
}

// place is the key of the last row that was looked at.
type place struct{ first, second string }

// valueRow is a sealed value with the key of its row.
type valueRow struct {
	First  string `db:"first"`
	Second string `db:"second"`
	Sealed []byte `db:"sealed"`
}

// id is the id with which the value is sealed.
func (r valueRow) id() string {
	if r.Second == "" {
		return r.First
	}
	return r.First + "/" + r.Second
}

// resealBatch reads the next values and seals those anew that another key sealed. A value that a
// server changes at the same time stays as the server wrote it.
func (c Column) resealBatch(ctx context.Context, db *engine.DB, master signing.MasterKey, at place) (rows []valueRow, changed int64, unreadable []string, err error) {
	if rows, err = engine.List[valueRow](ctx, db, c.next, at.first, at.second, batch); err != nil {
		return nil, 0, nil, err
	}
	for _, r := range rows {
		sealed, other, err := master.Reseal(c.Purpose, r.id(), r.Sealed)
		if err != nil {
			unreadable = append(unreadable, r.id())
			continue
		}
		if !other {
			continue
		}
		n, err := db.Exec(ctx, c.update, sealed, r.First, r.Second, r.Sealed)
		if err != nil {
			return nil, 0, nil, err
		}
		changed += int64(n)
	}
	return rows, changed, unreadable, nil
}
