package core

// Deleted is the result of an operation that deletes one record.
type Deleted struct {
	Deleted bool `json:"deleted" jsonschema_description:"Always true."`
}
