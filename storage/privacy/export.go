package privacy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Each implements [privacy.Store].
func (s Store) Each(ctx context.Context, search privacy.Search, t privacy.Table, do func(privacy.Row) error) error {
	return s.inspect(ctx, search, t, func(columns map[string]any) error {
		row := privacy.Row{}
		for _, name := range t.Columns() {
			value, err := exported(search, t, name, columns[name])
			if err != nil {
				return fmt.Errorf("%s of %s: %w", name, t.Name, err)
			}
			if value != nil {
				row[name] = value
			}
		}
		return do(row)
	})
}

// exported returns the value of a column for an export, nil if exports leave it out: the
// organization, secrets, bytes, and empty values. Of columns with the data of several persons it
// returns the part of one.
func exported(search privacy.Search, t privacy.Table, name string, value any) (json.RawMessage, error) {
	if name == "org_id" || value == nil {
		return nil, nil
	}
	for _, c := range t.Data {
		if c.Name != name {
			continue
		}
		if c.Secret || t.Name == "contact_upload_chunks" {
			return nil, nil
		}
		switch c.Change {
		case privacy.Items, privacy.Outcomes, privacy.Rows:
			return search.Mention.Own(text(value))
		}
	}
	switch v := value.(type) {
	case int64:
		if strings.HasSuffix(name, "_at") {
			return json.Marshal(engine.Time(v).Time())
		}
		return json.Marshal(v)
	case string, []byte:
		written := text(v)
		if written == "" {
			return nil, nil
		}
		if strings.ContainsAny(written[:1], "{[") && json.Valid([]byte(written)) {
			return json.RawMessage(written), nil
		}
		return json.Marshal(written)
	default:
		return json.Marshal(v)
	}
}
