package tags

import "time"

// Tag is a word by which templates and broadcasts are grouped.
type Tag struct {
	ID             string    `json:"id" jsonschema:"format=uuid"`
	Name           string    `json:"name" voice:"untrusted" jsonschema_description:"Unique in the organization. The filter tag takes it."`
	Color          string    `json:"color" voice:"ours" jsonschema_description:"Hexadecimal, such as #2563eb."`
	BroadcastCount int       `json:"broadcast_count" jsonschema_description:"Broadcasts with this tag."`
	TemplateCount  int       `json:"template_count" jsonschema_description:"Templates with this tag."`
	CreatedAt      time.Time `json:"created_at"`
}
