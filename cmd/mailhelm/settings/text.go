package settings

import (
	"fmt"
	"strings"
)

// stringOf writes a setting as it would be written in the environment; what was
// never set is empty.
func stringOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ",")
	case int:
		if v == 0 {
			return ""
		}
	}
	return fmt.Sprint(value)
}
