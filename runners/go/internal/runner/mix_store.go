package runner

import (
	"encoding/binary"
	"errors"
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// StoreOperations are the operations of a mix on a store, in the order of their numbers. Each has a key as its first
// parameter and, but for a get, one more.
func StoreOperations(mix *protocol.Mix, engine string) ([]protocol.MixStatement, error) {
	if mix.Store == nil {
		return nil, fmt.Errorf("%s has no SQL: this is an error in dyno", engine)
	}
	var operations []protocol.MixStatement
	for i := range mix.Classes {
		for _, one := range mix.Classes[i].Statements {
			wanted := 2
			if one.Does == protocol.Get {
				wanted = 1
			}
			if len(one.Parameters) != wanted {
				return nil, fmt.Errorf("the operation '%s' has %d parameters: this is an error in dyno", one.Does, len(one.Parameters))
			}
			operations = append(operations, one)
		}
	}
	return operations, nil
}

// StoreKey appends the key of an operation, as the bytes that sort as the numbers do.
func StoreKey(to []byte, operation *protocol.MixStatement, values *Values) ([]byte, error) {
	number, ok := values.Get(operation.Parameters[0]).(int64)
	if !ok {
		return nil, errors.New("a key is no whole number: this is an error in dyno")
	}
	return binary.BigEndian.AppendUint64(to, uint64(number)), nil
}

// StoreValue is a value as the bytes that a store keeps.
func StoreValue(value any) []byte {
	switch value := value.(type) {
	case string:
		return []byte(value)
	case []byte:
		return value
	case int64:
		return binary.LittleEndian.AppendUint64(nil, uint64(value))
	}
	return nil
}
