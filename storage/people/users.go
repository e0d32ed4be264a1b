package people

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// userStore is [people.UserStore].
type userStore struct{ db *engine.DB }

// userRow is a person who can sign in. PasswordHash is an argon2id hash in PHC string
// format.
type userRow struct {
	ID           string      `db:"id"`
	Email        string      `db:"email"`
	Name         string      `db:"name"`
	PasswordHash string      `db:"password_hash"`
	CreatedAt    engine.Time `db:"created_at"`
	// DisabledAt is set by package storage/closing.
	DisabledAt *engine.Time `db:"disabled_at"`
}

// userColumns lists the columns of users that are read. The column email_key is used only
// in conditions.
const userColumns = `id, email, name, password_hash, created_at, disabled_at`

var (
	// insertUser inserts a person. It changes nothing if a person with the id or the address
	// exists.
	insertUser = engine.Register("insert user", `
		INSERT INTO users (id, email, email_key, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`)
	userByEmail = engine.RegisterPoint("user by email", `SELECT `+userColumns+` FROM users WHERE email_key = $1`)
	userByID    = engine.RegisterPoint("user by id", `SELECT `+userColumns+` FROM users WHERE id = $1`)
	// holdUser locks the row of the person. NO KEY UPDATE does not wait for inserts of rows
	// that refer to the person.
	holdUser    = engine.Register("hold user", `SELECT id FROM users WHERE id = $1 /*pg FOR NO KEY UPDATE*/`)
	setPassword = engine.Register("set password", `UPDATE users SET password_hash = $1 WHERE id = $2`)
)

func (s userStore) InsertUser(ctx context.Context, u access.User) error {
	taken := core.Conflict("A user with this address exists already.", "Sign in as that user, or use another address.")
	return s.db.Insert(ctx, taken, insertUser, u.ID, u.Email, core.EmailKey(u.Email), u.Name, u.PasswordHash, engine.At(u.CreatedAt))
}

func (s userStore) UserByEmail(ctx context.Context, email string) (access.User, error) {
	row, err := engine.One[userRow](ctx, s.db, "user", userByEmail, core.EmailKey(email))
	if err != nil {
		return access.User{}, err
	}
	return row.user(), nil
}

// user converts the row.
func (r userRow) user() access.User {
	return access.User{
		ID: r.ID, Email: r.Email, Name: r.Name, PasswordHash: r.PasswordHash, CreatedAt: r.CreatedAt.Time(),
		DisabledAt: engine.OptionalTime(r.DisabledAt),
	}
}

func (s userStore) UserByID(ctx context.Context, userID string) (access.User, error) {
	row, err := engine.One[userRow](ctx, s.db, "user", userByID, userID)
	if err != nil {
		return access.User{}, err
	}
	return row.user(), nil
}

// HoldUser locks the person's row until the transaction ends. It fails with NotFound if the
// person does not exist. On SQLite no other transaction can write anyway.
func (s userStore) HoldUser(ctx context.Context, userID string) error {
	found, err := engine.Values[string](ctx, s.db, holdUser, userID)
	if err == nil && len(found) == 0 {
		return core.NotFound("user")
	}
	return err
}

func (s userStore) SetPassword(ctx context.Context, userID, hash string) error {
	return s.db.Change(ctx, "user", setPassword, hash, userID)
}
