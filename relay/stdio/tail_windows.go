package stdio

import "os"

// readNow has nothing to do: pipes have no deadlines here.
func readNow(*os.File, []byte) int { return 0 }
