package orgmove

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Format is the version of the archive's format.
const Format = 1

// Header is the first file of an archive.
type Header struct {
	// Format is the version of the format, and Schema that of the database's schema: the number of
	// its last migration. An import needs the same numbers.
	Format int   `json:"format"`
	Schema int64 `json:"schema"`
	// Program is the version of the program that wrote the archive.
	Program    string    `json:"program"`
	ExportedAt time.Time `json:"exported_at"`
	// Stopped is true if the organization was stopped before the export, so that the archive has
	// its last state. Otherwise the archive is a copy of an organization that goes on.
	Stopped bool     `json:"stopped"`
	Org     Org      `json:"organization"`
	People  []Person `json:"people"`
	// ErasedKey is the key of the hashes of erased addresses of the installation that wrote the
	// archive, if the organization has such hashes.
	ErasedKey []byte  `json:"erased_key,omitempty"`
	Tables    []Table `json:"tables"`
}

// Org is the organization itself.
type Org struct {
	ID                  string `json:"id"`
	Slug                string `json:"slug"`
	Name                string `json:"name"`
	Tier                string `json:"tier"`
	RetentionDays       int    `json:"retention_days"`
	RateLimit           *int   `json:"rate_limit"`
	GitConnected        bool   `json:"git_connected"`
	RequireSecondFactor bool   `json:"require_second_factor"`
	PlatformMode        bool   `json:"platform_mode"`
	// CreatedAt is in microseconds since 1970.
	CreatedAt int64 `json:"created_at"`
}

// Person is a member of the organization. Passwords and second factors do not move.
type Person struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	// CreatedAt and JoinedAt are in microseconds since 1970.
	CreatedAt   int64  `json:"created_at"`
	Role        string `json:"role"`
	Permissions string `json:"permissions"`
	JoinedAt    int64  `json:"joined_at"`
}

// Table is a table with its columns, in the order of the values of a row.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Manifest is the last file of an archive. It says what the files before it must contain.
type Manifest struct {
	Tables  []TableSum `json:"tables"`
	Objects ObjectSum  `json:"objects"`
}

// TableSum has the number of rows of a table, and the SHA-256 of their lines in hexadecimal.
type TableSum struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// ObjectSum has the number of objects and of their bytes, and the SHA-256 of their keys, sizes and
// contents in hexadecimal.
type ObjectSum struct {
	Count  int64  `json:"count"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Rows returns the number of rows in all tables.
func (m Manifest) Rows() int64 {
	var all int64
	for _, t := range m.Tables {
		all += t.Rows
	}
	return all
}

// refused returns the error for an archive that cannot be imported.
func refused(message, next string) *core.Error {
	return &core.Error{Code: core.CodeValidationFailed, Message: message, Next: next}
}

// damaged returns the error for an archive that is not as an export wrote it.
func damaged(what string) *core.Error {
	return refused("The archive is damaged or was changed: "+what+".", "Copy the file again, or export the organization again.")
}
