package settings

import (
	"fmt"
	"strings"
)

// stringOf formats a setting as an environment variable would contain it. It joins lists
// with commas. It returns "" for an empty value; 0 counts as empty, false does not.
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
