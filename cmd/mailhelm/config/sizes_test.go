package config

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"off": math.MaxInt64, "768MiB": 768 << 20, "2GiB": 2 << 30, "1TiB": 1 << 40, "131072KiB": 128 << 20, "67108864": 64 << 20, "67108864B": 64 << 20,
	} {
		if got, set, err := (Config{MemoryLimit: text}).Memory(); got != want || !set || err != nil {
			t.Errorf("%s: %d, %t, %v", text, got, set, err)
		}
	}
	if _, set, err := (Config{}).Memory(); set || err != nil {
		t.Errorf("empty: %t, %v", set, err)
	}
	for _, text := range []string{"1", "63MiB", "2GB", "lots", "-1GiB", "99999999999TiB", "1.5GiB", "MiB"} {
		if _, _, err := (Config{MemoryLimit: text}).Memory(); err == nil || !strings.Contains(err.Error(), "--memory-limit "+text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSizesHaveBounds(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"--database-connections 3": {MaxConns: 3}, "--database-connections 1001": {MaxConns: 1001},
		"--sqlite-readers 65": {SQLiteReaders: 65}, "--sqlite-readers -1": {SQLiteReaders: -1},
		"--database-replica-lag 10ms": {ReplicaLag: 10 * time.Millisecond}, "--database-replica-lag 2h": {ReplicaLag: 2 * time.Hour},
	} {
		if err := c.checkSizes(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := (Config{MaxConns: 4, SQLiteReaders: 64, MemoryLimit: "1GiB"}).checkSizes(); err != nil {
		t.Error(err)
	}
}
