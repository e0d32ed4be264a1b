package enginetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/partitions"
	"github.com/mailhelm/mailhelm/storage/schema"
)

// templateLock is the number of the PostgreSQL advisory lock for creating a template
// database. The number is arbitrary.
const templateLock = 7_314_259

// makeTemplate returns the name of the template database that tests copy, and creates the
// template if it does not exist. Each version of the schema has its own template. It also
// drops the filled templates of processes that have ended.
func (s *server) makeTemplate(ctx context.Context) (string, error) {
	name, err := templateName()
	if err != nil {
		return "", err
	}
	conn, err := s.admin.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return "", err
	}
	defer func() { _, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", templateLock) }()
	if err := dropAbandoned(ctx, conn); err != nil {
		return "", err
	}
	var exists bool
	err = conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return name, err
	}
	return name, s.fillTemplate(ctx, conn, name)
}

// fillTemplate creates the template database under a temporary name, migrates it, and then
// renames it. An interrupted creation therefore leaves no incomplete template.
func (s *server) fillTemplate(ctx context.Context, conn *sql.Conn, name string) error {
	unfinished := name + "_unfinished"
	if _, err := conn.ExecContext(ctx, "DROP DATABASE IF EXISTS "+unfinished); err != nil {
		return err
	}
	if err := createByLanguage(ctx, conn, unfinished); err != nil {
		return err
	}
	if err := migrate(engine.Config{URL: s.url(unfinished), MaxConns: 4}); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return err
}

// createByLanguage creates a database that sorts text by the rules of English, if the
// server supports that. Tests then detect text that should be sorted by its bytes but is
// not.
func createByLanguage(ctx context.Context, conn *sql.Conn, name string) error {
	_, err := conn.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en'")
	if err != nil {
		_, err = conn.ExecContext(ctx, "CREATE DATABASE "+name)
	}
	return err
}

func templateName() (string, error) {
	steps, err := schema.Migrations()
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	fmt.Fprintln(digest, partitions.Layout())
	for _, step := range steps {
		fmt.Fprintf(digest, "%d %s\n", step.Version, step.SQL)
	}
	return "mailhelm_template_" + hex.EncodeToString(digest.Sum(nil)[:8]), nil
}
