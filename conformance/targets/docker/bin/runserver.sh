#!/bin/sh
# As in the official image, the shell stays above Java and hands on no signals.
# shellcheck disable=SC2086 # JAVA_OPT_EXT holds several words
"$JAVA_HOME/bin/java" -Xms256m -Xmx256m \
    --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
    --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED \
    -Drocketmq.home.dir="$ROCKETMQ_HOME" \
    -cp "$ROCKETMQ_HOME/conf:$ROCKETMQ_HOME/lib/*" $JAVA_OPT_EXT "$@"
