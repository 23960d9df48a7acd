# An overlay port whose headers lie beside it: nothing is downloaded.
set(VCPKG_POLICY_EMPTY_INCLUDE_FOLDER disabled)
set(VCPKG_BUILD_TYPE release)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/include/" DESTINATION "${CURRENT_PACKAGES_DIR}/include/nnrt")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/nnrt-config.cmake" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/LICENSE" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
